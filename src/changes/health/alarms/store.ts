import { toTimestamp } from '../../../core/clock.ts'
import type { IdSource } from '../../../core/sequences.ts'
import type { Db, Session } from '../../../platform/mongo/connection.ts'
import type { WorkSource } from '../../../platform/mongo/turns/work-watch.ts'
import { addAlarms, findWaitingOpenings, newDelivery } from '../../webhooks/deliveries-store.ts'
import type { AlarmEvent, AlarmPost } from '../../webhooks/hint.ts'
import { type AlarmWebhook, findOwnAlarmWebhooks, inHostTransaction } from '../../webhooks/store.ts'
import { type FindingCode, findingCodes } from '../findings.ts'
import type { FindingView } from '../schema.ts'
import { toldOfEnd, untold } from './compare.ts'
import { type Alarm, alarmModel } from './model.ts'

/** A key in an environment. */
export interface KeyOfOwner {
  owner_id: number
  key_id: number
}

/** A finding that is reported. */
export interface Reported {
  identity: string
  code: FindingCode
  finding: FindingView
}

/** Returns the alarms of several keys, in any order. */
export function findAlarmsOfKeys(db: Db, keys: KeyOfOwner[]): Promise<Alarm[]> {
  const owner_id = { $in: [...new Set(keys.map((key) => key.owner_id))] }
  const key_id = { $in: keys.map((key) => key.key_id) }
  return alarmModel(db).find({ owner_id, key_id }, { _id: 0 }).lean()
}

/** Returns the alarms of some owners or of all, including those whose end has not been reported yet. */
export function findAlarms(db: Db, ownerIds?: number[]): Promise<Alarm[]> {
  return alarmModel(db)
    .find(ownerIds ? { owner_id: { $in: ownerIds } } : {}, { _id: 0 })
    .lean()
}

/** Returns the ids of the owners that have alarms. */
export function findOwnersWithAlarms(db: Db): Promise<number[]> {
  return alarmModel(db).distinct('owner_id')
}

/** Shows that there is any alarm. */
export const anyAlarm: WorkSource = { model: alarmModel, filter: () => ({}) }

/**
 * Opens an alarm, and makes an `alarm.opened` for each of the key's webhooks that wants it. It is posted as a hint is, by
 * `webhooks/send/sender.ts`, which hears of it because the transaction moves the host's clock.
 */
export async function openAlarm(
  { db, ids }: { db: Db; ids: IdSource },
  { owner_id, key_id }: KeyOfOwner,
  { identity, code, finding }: Reported,
  now: Date,
): Promise<void> {
  const id = await ids('alarm')
  await inHostTransaction(db, owner_id, async (session) => {
    const same = { owner_id, key_id, identity, is_open: true }
    // A process that has lost its lease may have opened the alarm in the meantime.
    if (await alarmModel(db).exists(same).session(session)) return
    const told = untold(await webhooksOf(db, session, { owner_id, key_id }), finding, [])
    const alarm: Alarm = {
      ...same,
      id,
      code,
      opening: finding,
      finding,
      opened_at: now,
      opened_for: told.map(toTold),
      ended_for: [],
      resolved_at: null,
      revision: 0,
    }
    await alarmModel(db).create([alarm], { session })
    await addAlarms(db, session, postsOf('alarm.opened', alarm, told, now))
  })
}

/** Makes an `alarm.opened` of an open alarm for the webhooks that have not been told since they listen. */
export async function tellMore(db: Db, alarm: Alarm, finding: FindingView, now: Date): Promise<void> {
  const { owner_id, id, revision } = alarm
  await inHostTransaction(db, owner_id, async (session) => {
    const told = untold(await webhooksOf(db, session, alarm), finding, alarm.opened_for)
    const others = alarm.opened_for.filter((one) => !told.some((webhook) => webhook.id === one.webhook_id))
    const opened_for = [...others, ...told.map(toTold)]
    const change = { $set: { finding, opened_for }, $inc: { revision: 1 } }
    const { matchedCount } = await alarmModel(db).updateOne({ owner_id, id, revision }, change, { session })
    if (matchedCount > 0) await addAlarms(db, session, postsOf('alarm.opened', alarm, told, now))
  })
}

/** Stores the values of an open alarm's finding that were seen last. */
export async function noteSeen(
  db: Db,
  { owner_id, id, revision }: Alarm,
  finding: FindingView,
): Promise<void> {
  await alarmModel(db).updateOne({ owner_id, id, revision }, { $set: { finding }, $inc: { revision: 1 } })
}

/** Notes that an alarm's finding is gone. Its end is reported by {@link reportEnd}. */
export async function resolveAlarm(db: Db, { owner_id, id, revision }: Alarm, now: Date): Promise<void> {
  const change = { $set: { is_open: false, resolved_at: now }, $inc: { revision: 1 } }
  await alarmModel(db).updateOne({ owner_id, id, revision }, change)
}

/**
 * Makes an `alarm.resolved` for each webhook that must hear of it, and deletes the alarm once every one is made. A
 * webhook whose `alarm.opened` is waiting is left for later, because it must not hear of the end before the beginning;
 * it does not hold up the others.
 */
export async function reportEnd(db: Db, alarm: Alarm, now: Date): Promise<void> {
  const { owner_id, id, revision, ended_for, resolved_at } = alarm
  if (resolved_at === null) return
  // Without this look, each round would start a transaction for nothing while a webhook is down.
  const before = await endsOf(db, null, alarm, now)
  if (before.ready.length === 0 && before.isLeft) return
  await inHostTransaction(db, owner_id, async (session) => {
    const { ready, isLeft } = await endsOf(db, session, alarm, now)
    const seen = { owner_id, id, revision }
    if (isLeft) {
      const told = [...ended_for, ...ready.map((webhook) => webhook.id)]
      const change = { $set: { ended_for: told }, $inc: { revision: 1 } }
      const { matchedCount } = await alarmModel(db).updateOne(seen, change, { session })
      if (matchedCount === 0) return
    } else {
      const { deletedCount } = await alarmModel(db).deleteOne(seen, { session })
      if (deletedCount === 0) return
    }
    await addAlarms(db, session, postsOf('alarm.resolved', alarm, ready, now))
  })
}

/** Returns the webhooks that can hear of an alarm's end now, and whether others are left for later. */
async function endsOf(
  db: Db,
  session: Session | null,
  alarm: Alarm,
  now: Date,
): Promise<{ ready: AlarmWebhook[]; isLeft: boolean }> {
  const told = toldOfEnd(await webhooksOf(db, session, alarm), alarm.finding, alarm.opened_for)
  const waiting = await findWaitingOpenings(db, session, alarm, now)
  const left = told.filter((webhook) => !alarm.ended_for.includes(webhook.id))
  const ready = left.filter((webhook) => !waiting.includes(webhook.id))
  return { ready, isLeft: ready.length < left.length }
}

/** Ends alarms of which nobody is told any more, because their key or its last webhook for alarms has ended. */
export async function dropAlarms(db: Db, alarms: Alarm[]): Promise<void> {
  for (const { owner_id, id, revision } of alarms) await alarmModel(db).deleteOne({ owner_id, id, revision })
}

function toTold({ id, listening_id }: AlarmWebhook): Alarm['opened_for'][number] {
  return { webhook_id: id, listening_id }
}

async function webhooksOf(
  db: Db,
  session: Session | null,
  { owner_id, key_id }: KeyOfOwner,
): Promise<AlarmWebhook[]> {
  const webhooks = await findOwnAlarmWebhooks(db, session, owner_id)
  return webhooks.filter(({ created_by }) => created_by === key_id)
}

/** Returns the deliveries that report an alarm to webhooks. */
function postsOf(type: AlarmEvent, alarm: Alarm, webhooks: AlarmWebhook[], now: Date) {
  const { id, opening, finding, resolved_at } = alarm
  const payload: AlarmPost = {
    type,
    timestamp: toTimestamp(resolved_at ?? now),
    data: {
      alarm_id: id,
      ...(type === 'alarm.opened' ? opening : finding),
      ...(resolved_at ? { resolved_at: toTimestamp(resolved_at) } : {}),
    },
  }
  return webhooks.map((webhook) => newDelivery({ webhook, payload, now, begins: false, trace: null }))
}

/** Returns the open alarms of all keys, oldest first, for administrators. */
export function listOpenAlarms(db: Db): Promise<Alarm[]> {
  return alarmModel(db).find({ is_open: true }, { _id: 0 }).sort({ opened_at: 1, id: 1 }).lean()
}

/** Returns the number of open alarms of each code. */
export async function countOpenAlarms(db: Db): Promise<Record<FindingCode, number>> {
  const found = await alarmModel(db)
    .collection.aggregate<{ _id: FindingCode; count: number }>([
      { $match: { is_open: true } },
      { $group: { _id: '$code', count: { $sum: 1 } } },
    ])
    .toArray()
  const counts = new Map(found.map(({ _id, count }) => [_id, count]))
  return Object.fromEntries(findingCodes.map((code) => [code, counts.get(code) ?? 0])) as Record<
    FindingCode,
    number
  >
}
