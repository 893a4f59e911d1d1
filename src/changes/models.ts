import { consumerModel } from './consumers/model.ts'
import { pageEndModel } from './feed/model.ts'
import { webhookDeliveryModel, webhookModel } from './webhooks/model.ts'

/** The models of this neighbourhood's collections. */
export const models = [consumerModel, pageEndModel, webhookDeliveryModel, webhookModel]
