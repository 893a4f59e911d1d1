import { auditModel, hostAuditModel } from '../access/audit/model.ts'
import { hostModel } from '../access/hosts/model.ts'
import { keyModel } from '../access/keys/model.ts'
import { providerKeyModel } from '../access/provider-keys/model.ts'
import { requestCountsModel, requestModel } from '../access/requests/model.ts'
import { certificationModel, deliveryModel, requestRecordModel } from '../certification/model.ts'
import { consumerModel } from '../changes/consumers/model.ts'
import { pageEndModel } from '../changes/feed/model.ts'
import { webhookDeliveryModel, webhookModel } from '../changes/webhooks/model.ts'
import type { AppContext } from '../http/context.ts'
import { storedResponseModel } from '../http/idempotency/model.ts'
import { availabilityJobs } from '../inventory/availability/compaction.ts'
import {
  availabilityBlockModel,
  availabilityCompactedModel,
  availabilityWrittenModel,
} from '../inventory/availability/model.ts'
import { listingModel } from '../inventory/listings/model.ts'
import { rateJobModel } from '../inventory/listings/rates/model.ts'
import { sequenceModel } from '../platform/ids/sequences.ts'
import { leaseModel } from '../platform/mongo/lease.ts'
import { lockModel } from '../platform/mongo/locks.ts'
import { type Release, schemaVersionModel } from '../platform/mongo/schema-version.ts'
import { jobModel, type Topics } from '../platform/outbox/outbox.ts'
import { secretCheckModel } from '../platform/secrets/secret-check.ts'
import { signingKeyModel } from '../platform/secrets/signing-keys.ts'
import { developmentSecretModel, storedSecretModel } from '../platform/secrets/stored-secret.ts'
import { sandboxKeyModel, sandboxModel } from '../sandbox/model.ts'
import { bookingModel } from '../stays/bookings/model.ts'
import { conversationModel, messageModel } from '../stays/messages/model.ts'
import { userJobs } from '../stays/users/jobs.ts'
import { userModel } from '../stays/users/model.ts'
import { hostClockModel } from '../versions/model.ts'
import { migrations } from './migrations.ts'

/** Models of all collections. The collections and their indexes are created before the first transaction. */
export const models = [
  auditModel,
  availabilityBlockModel,
  availabilityCompactedModel,
  availabilityWrittenModel,
  bookingModel,
  certificationModel,
  consumerModel,
  conversationModel,
  deliveryModel,
  developmentSecretModel,
  hostAuditModel,
  hostClockModel,
  hostModel,
  jobModel,
  keyModel,
  leaseModel,
  listingModel,
  lockModel,
  messageModel,
  pageEndModel,
  providerKeyModel,
  rateJobModel,
  requestCountsModel,
  requestModel,
  requestRecordModel,
  sandboxKeyModel,
  sandboxModel,
  schemaVersionModel,
  secretCheckModel,
  sequenceModel,
  signingKeyModel,
  storedResponseModel,
  storedSecretModel,
  userModel,
  webhookDeliveryModel,
  webhookModel,
]

/** The collections and migrations of this release. */
export const release: Release = { models, migrations }

/** Returns all outbox topics that the features declare. */
export function outboxTopics(context: Pick<AppContext, 'db' | 'clock' | 'config'>): Topics {
  return { ...userJobs(context), ...availabilityJobs(context) }
}
