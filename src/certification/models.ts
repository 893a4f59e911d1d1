import { certificationModel, deliveredVersionModel, requestRecordModel } from './model.ts'

/** The models of this neighbourhood's collections. */
export const models = [certificationModel, deliveredVersionModel, requestRecordModel]
