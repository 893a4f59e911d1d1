import { consumerModel } from './consumers/model.ts'
import { pageEndModel } from './feed/model.ts'
import { alarmModel } from './health/alarms/model.ts'
import { webhookDeliveryModel, webhookModel } from './webhooks/model.ts'

/** The models of this neighbourhood's collections. */
export const models = [alarmModel, consumerModel, pageEndModel, webhookDeliveryModel, webhookModel]
