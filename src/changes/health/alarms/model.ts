import { modelOf } from '../../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../../platform/mongo/fields.ts'
import type { FindingCode } from '../findings.ts'
import type { FindingView } from '../schema.ts'

const toldFields = {
  webhook_id: field.number,
  /** The webhook's `listening_id` when it was told. */
  listening_id: field.text,
}

const fields = {
  owner_id: field.number,
  id: field.number,
  key_id: field.number,
  /** Tells the finding from the key's other findings; see `identityOf`. */
  identity: field.text,
  code: field.literal<FindingCode>(),
  /** The finding as partners see it, with its values at the opening. */
  opening: field.mixed<FindingView>(),
  /** The same with the values that were seen last. */
  finding: field.mixed<FindingView>(),
  opened_at: field.moment,
  /** The webhooks for which an `alarm.opened` was made. */
  opened_for: field.listOf(toldFields),
  /** Ids of the webhooks for which an `alarm.resolved` was made. */
  ended_for: field.list<number>(Number),
  /** False once the finding is gone. The document is deleted when every `alarm.resolved` is made. */
  is_open: field.flag,
  resolved_at: field.momentOrNull,
  /** Number of changes, so that a process that has lost its lease changes nothing. */
  revision: field.number,
}

/** A finding that was reported to a key's webhooks, until its end has been reported too. */
export type Alarm = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ owner_id: 1, id: 1 }, { unique: true, name: 'alarm_id' })
schema.index(
  { owner_id: 1, key_id: 1, identity: 1 },
  { unique: true, name: 'alarm_open', partialFilterExpression: { is_open: true } },
)
schema.index({ key_id: 1 }, { name: 'alarm_key' })

export const alarmModel = modelOf<Alarm>('alarms', schema, { owner: 'owner_id' })
