import {
  availabilityCompactedModel,
  availabilityRowModel,
  availabilityWrittenModel,
} from './availability/model.ts'
import { bookingModel } from './bookings/model.ts'
import { hostModel } from './hosts/model.ts'
import { answerModel } from './infra/answers.ts'
import { auditModel } from './infra/audit.ts'
import { hostClockModel } from './infra/host-clock.ts'
import { lockModel } from './infra/locks.ts'
import { jobModel } from './infra/outbox.ts'
import { secretModel } from './infra/secrets.ts'
import { sequenceModel } from './infra/sequences.ts'
import { walkPageModel } from './infra/walk-pages.ts'
import { keyModel } from './keys/model.ts'
import { listingModel } from './listings/model.ts'
import { conversationModel, messageModel } from './messages/model.ts'
import { providerKeyModel } from './provider-keys/model.ts'
import { waitingRatesModel } from './rates/model.ts'
import { sandboxModel } from './sandbox/model.ts'
import { userModel } from './users/model.ts'

/** Every collection there is, so that all of them and their indexes exist before the first transaction. */
export const models = [
  waitingRatesModel,
  answerModel,
  auditModel,
  availabilityCompactedModel,
  availabilityRowModel,
  availabilityWrittenModel,
  bookingModel,
  conversationModel,
  hostClockModel,
  hostModel,
  jobModel,
  keyModel,
  listingModel,
  lockModel,
  messageModel,
  providerKeyModel,
  sandboxModel,
  secretModel,
  sequenceModel,
  userModel,
  walkPageModel,
]
