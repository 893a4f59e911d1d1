import { modelOf } from '../platform/mongo/collections.ts'
import { type Field, number, type Stored, schemaOf } from '../platform/mongo/fields.ts'

const fields = {
  /** Host id. */
  _id: number,
  /** The last version of a booking, in whole seconds since 1970. */
  last: number,
  /** The last version of a message. */
  messages_last: number,
  /** Number of changes of bookings and availability so far. */
  sequence: number,
  /** How often all that is held for it was answered, see `releaseHeld()`. */
  released: { type: Number, default: 0 } as Field<number>,
}

/** The clock of one host, which orders its changes. */
export type HostClock = Stored<typeof fields>

/** The kinds of versions, by the field of the clock that holds the last one. */
export type Counter = 'last' | 'messages_last'

const schema = schemaOf(fields)
schema.index({ last: -1 }, { name: 'clock_last' })

export const hostClockModel = modelOf<HostClock>('host_clocks', schema)
