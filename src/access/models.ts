import { auditModel, hostAuditModel } from './audit/model.ts'
import { hostModel } from './hosts/model.ts'
import { keyModel } from './keys/model.ts'
import { providerKeyModel } from './provider-keys/model.ts'
import { requestCountsModel, requestModel } from './requests/model.ts'

/** The models of this neighbourhood's collections. */
export const models = [
  auditModel,
  hostAuditModel,
  hostModel,
  keyModel,
  providerKeyModel,
  requestCountsModel,
  requestModel,
]
