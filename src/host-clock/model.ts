import { Schema } from 'mongoose'
import { modelOf } from '../platform/mongo/collections.ts'

/** The clock of one host, which orders its changes. */
export interface HostClock {
  /** Host id. */
  _id: number
  /** The last version given out, in whole seconds since 1970. */
  last: number
  /** Number of changes so far. */
  sequence: number
}

const schema = new Schema<HostClock>({
  _id: { type: Number, required: true },
  last: { type: Number, required: true },
  sequence: { type: Number, required: true },
})
schema.index({ last: -1 }, { name: 'clock_last' })

export const hostClockModel = modelOf<HostClock>('host_clocks', schema)
