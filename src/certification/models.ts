import { certificationModel } from './model.ts'
import { deliveredVersionModel, requestRecordModel } from './record/model.ts'

/** The models of this neighbourhood's collections. */
export const models = [certificationModel, deliveredVersionModel, requestRecordModel]
