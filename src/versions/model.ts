import { Schema } from 'mongoose'
import { modelOf } from '../platform/mongo/collections.ts'

/** The clock of one host, which orders its changes. */
export interface HostClock {
  /** Host id. */
  _id: number
  /** The last version of a booking, in whole seconds since 1970. */
  last: number
  /** The last version of a message. */
  messages_last: number
  /** Number of changes of bookings and availability so far. */
  sequence: number
}

/** What has versions, by the field of the clock that holds the last one. */
export type Counter = 'last' | 'messages_last'

const schema = new Schema<HostClock>({
  _id: { type: Number, required: true },
  last: { type: Number, required: true },
  messages_last: { type: Number, required: true },
  sequence: { type: Number, required: true },
})
schema.index({ last: -1 }, { name: 'clock_last' })

export const hostClockModel = modelOf<HostClock>('host_clocks', schema)
