import { hostClockModel } from './model.ts'

/** The models of this neighbourhood's collections. */
export const models = [hostClockModel]
