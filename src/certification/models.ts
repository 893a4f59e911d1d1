import { certificationModel, deliveryModel, requestRecordModel } from './model.ts'

/** The models of this neighbourhood's collections. */
export const models = [certificationModel, deliveryModel, requestRecordModel]
