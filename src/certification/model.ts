import { modelOf } from '../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../platform/mongo/fields.ts'
import type { Place, StayDates } from '../sandbox/scenarios/stage.ts'
import type { CaseName, Profile } from './course/cases.ts'

/** A stay to book, with its first night and the day of departure. */
export type StayToBook = Place & StayDates

/** Nights to push, from `start_date` to `end_date` inclusive, with their new number of units. */
export interface NightsToPush extends Place {
  start_date: string
  end_date: string
  available: number
}

/** Nights to push with units that were counted when the booking feed had ended at the version `as_of`. */
export interface LatePush extends NightsToPush {
  as_of: string
}

/** A year of nights to push, from `start_date` to `end_date` inclusive, for all listed room types. */
export interface YearToPush {
  room_types: Place[]
  start_date: string
  end_date: string
}

/** The action that the product or its operator is asked to take. Completion is observed, not confirmed. */
export type Next = { text: string } & (
  | { action: 'start' | 'stop' | 'wait' | 'upload_state' }
  | ({ action: 'push_all' } & YearToPush)
  | ({ action: 'push_change'; as_of?: string } & NightsToPush)
  /** `user_id` is a sandbox user who can be the guest. */
  | ({ action: 'book'; user_id: number } & StayToBook)
  | { action: 'cancel'; booking_id?: number }
)

/** A case with its result so far. */
export interface Case {
  name: CaseName
  status: 'waiting' | 'passed' | 'failed' | 'skipped'
  /** Reason that the case failed or was skipped, as a sentence for the partner; null otherwise. */
  because: string | null
  request_ids: string[]
}

/** Values that are stored with a step, so that another process can continue it. */
export interface Memo {
  /** The host's last version before the step played anything. */
  after: Date
  /** The stay that the product cannot book, and the stay to book instead. */
  stay?: StayToBook
  other?: StayToBook
  /** The push that arrives after a booking which it does not know. */
  late?: LatePush
  /** Problems with the uploaded state, as sentences for the partner; absent until a state has been judged. */
  judged?: string[]
}

/** Facts that earlier steps establish for later steps. */
export interface Facts {
  /** The longest pause between two requests to the feed, in milliseconds. */
  pace?: number
  /** Number of requests seen when the first sync was complete. */
  syncedAfter?: number
  /** Ids of the listings whose bookings the first sync has read. */
  listings?: number[]
  /** The changes that the product was asked to push and has pushed, in order. */
  asked?: NightsToPush[]
  /** Id of the booking that the product has created; null if it has not created any. */
  booking?: number | null
  /** Departure day of the first stay that the product was asked to book; later stays start after that day. */
  bookedUntil?: string
}

const stepFields = {
  id: field.text,
  index: field.number,
  /** See the diagram in `engine.ts`. */
  state: field.literal<'begun' | 'released' | 'played'>(),
  began_at: field.moment,
  /**
   * Number of requests that belong to earlier steps. Later requests belong to this step. A count is used because the
   * processes' clocks differ.
   */
  after: field.number,
  played_at: field.momentOrNull,
  /** A number that grows as the product advances, and the time at which it last grew. */
  progress: field.number,
  progress_at: field.moment,
  memo: field.mixed<Memo>(),
}

const fields = {
  _id: field.number,
  key_id: field.number,
  /** The key's host. */
  host_id: field.number,
  /** The sandbox in which the certification runs; null until the sandbox is filled. */
  sandbox_id: field.numberOrNull,
  seed: field.text,
  profiles: field.list<Profile>(String),
  status: field.literal<'running' | 'passed' | 'failed' | 'expired'>(),
  started_at: field.moment,
  ended_at: field.momentOrNull,
  cases: field.list<Case>(Object),
  step: field.objectOrNull(stepFields),
  /**
   * The action that the product is asked to take; null until the sandbox is filled, and once the certification has
   * ended.
   */
  next: field.mixedOrNull<Next>(),
  facts: field.mixed<Facts>(),
  /** Secret for hashing bodies and `Idempotency-Key`s; null once the certification has ended. */
  secret: field.textOrNull,
  /** Number of requests seen, whether recorded or only counted. */
  requests: field.number,
  /** Number that grows with each change to the course, so that two processes never overwrite each other's changes. */
  revision: field.number,
  /** When to delete late requests' records; null before the end and once done. */
  sweep_at: field.momentOrNull,
  expires_at: field.moment,
}

/** A certification: the course that is played, its progress and its grades. */
export type Certification = Stored<typeof fields>
export type Step = NonNullable<Certification['step']>

/** A certification whose sandbox has been filled, so that its course has begun. */
export type StartedCertification = Certification & { sandbox_id: number; step: Step }

const schema = schemaOf(fields)
schema.index({ key_id: 1, _id: -1 }, { name: 'certification_key' })
schema.index(
  { key_id: 1 },
  { unique: true, name: 'certification_running', partialFilterExpression: { status: 'running' } },
)
schema.index({ status: 1 }, { name: 'certification_status' })
schema.index({ sweep_at: 1 }, { name: 'certification_sweep' })
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'certification_expiry' })

export const certificationModel = modelOf<Certification>('certifications', schema)
