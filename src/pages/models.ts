import { packageReleaseModel } from './downloads/model.ts'

/** The models of this neighbourhood's collections. */
export const models = [packageReleaseModel]
