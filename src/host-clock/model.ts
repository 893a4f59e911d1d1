import { modelOf } from '../platform/mongo/collections.ts'
import { type Field, field, type Stored, schemaOf } from '../platform/mongo/fields.ts'

const fields = {
  /** Host id. */
  _id: field.number,
  /** The latest booking version, in whole seconds since 1970. */
  last: field.number,
  /** The latest message version, in whole seconds since 1970. */
  messages_last: field.number,
  /**
   * The value of `last` when the clock started or was moved ahead after a restore, which is no booking's version; absent
   * if it never was.
   */
  skipped_to: { type: Number, default: 0 } as Field<number>,
  /** The latest booking version before `last` became `skipped_to`, in seconds since 1970; 0 without bookings. */
  skipped_from: { type: Number, default: 0 } as Field<number>,
  /** Total number of changes to bookings, availability and webhooks, plus the number of guest erasures. */
  sequence: field.number,
  /** Number of guest erasures that have started. */
  erasures: { type: Number, default: 0 } as Field<number>,
  /** Time at which a room's calendar was last read for the first time (decisions §31); null if none ever was. */
  calendars_at: field.momentOrNull,
  /** Number of times that the host's held requests were released; see `releaseHeld()`. */
  released: { type: Number, default: 0 } as Field<number>,
  /** Number of times that a change of the host or of its keys was announced; see `announceKeyChange()`. */
  key_changes: { type: Number, default: 0 } as Field<number>,
}

/** One host's clock, which orders the host's changes. */
export type HostClock = Stored<typeof fields>

/** The kinds of versions, each named after the clock field that holds the latest version of that kind. */
export type Counter = 'last' | 'messages_last'

const schema = schemaOf(fields)
schema.index({ last: -1 }, { name: 'clock_last' })

export const hostClockModel = modelOf<HostClock>('host_clocks', schema, { owner: '_id' })
