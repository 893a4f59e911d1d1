import { storedResponseModel } from './idempotency/model.ts'

/** The models of this neighbourhood's collections. */
export const models = [storedResponseModel]
