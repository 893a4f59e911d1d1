import { Schema } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'

export interface Host {
  id: number
  name: string
  email: string
  created_at: Date
  last_login_at: Date | null
}

const schema = new Schema<Host>({
  id: { type: Number, required: true },
  name: { type: String, required: true },
  email: { type: String, required: true },
  created_at: { type: Date, required: true },
  last_login_at: { type: Date, default: null },
})
schema.index({ id: 1 }, { unique: true, name: 'host_id' })
schema.index({ email: 1 }, { unique: true, name: 'host_email' })

export const hostModel = modelOf<Host>('hosts', schema)
