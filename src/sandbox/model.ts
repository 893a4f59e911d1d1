import { Schema } from 'mongoose'
import { modelOf } from '../infra/mongo.ts'

/** The sandbox of one API key. */
export interface Sandbox {
  /** Id of the key. */
  _id: number
  /** Stands in the place of a host id: everything in this sandbox belongs to it. */
  scope: number
  expires_at: Date
}

export const sandboxModel = modelOf<Sandbox>(
  'sandboxes',
  new Schema<Sandbox>({
    _id: { type: Number, required: true },
    scope: { type: Number, required: true },
    expires_at: { type: Date, required: true },
  }),
)
