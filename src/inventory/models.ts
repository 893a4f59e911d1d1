import {
  availabilityBlockModel,
  availabilityCompactedModel,
  availabilityWrittenModel,
} from './availability/model.ts'
import { calendarModel } from './calendars/model.ts'
import { listingModel } from './listings/model.ts'
import { rateJobModel } from './listings/rates/model.ts'

/** The models of this neighbourhood's collections. */
export const models = [
  availabilityBlockModel,
  availabilityCompactedModel,
  availabilityWrittenModel,
  calendarModel,
  listingModel,
  rateJobModel,
]
