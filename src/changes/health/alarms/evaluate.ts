import { isDeepStrictEqual } from 'node:util'
import type { ApiKey } from '../../../access/keys/model.ts'
import { findKeysByIds } from '../../../access/keys/store.ts'
import type { AppContext } from '../../../http/context.ts'
import { usableKeys } from '../../webhooks/keys.ts'
import { type AlarmWebhook, findAlarmWebhooks } from '../../webhooks/store.ts'
import { readFacts, type Subject } from '../facts.ts'
import { findingsBySubject, type HealthFacts, identityOf } from '../findings.ts'
import { serializeFinding } from '../serialize.ts'
import { compare, type Transition, untold } from './compare.ts'
import type { Alarm } from './model.ts'
import {
  dropAlarms,
  findAlarms,
  findAlarmsOfKeys,
  type KeyOfOwner,
  noteSeen,
  openAlarm,
  reportEnd,
  resolveAlarm,
  tellMore,
} from './store.ts'

/** What evaluating alarms needs of an environment. */
export type AlarmContext = Pick<AppContext, 'db' | 'liveDb' | 'clock' | 'config' | 'ids' | 'activity' | 'log'>

/** A key that wants alarms, and its webhooks that do. */
export interface WatchedKey {
  ownerId: number
  keyId: number
  webhooks: AlarmWebhook[]
}

/** Number of keys that are evaluated together. */
const keysPerPage = 100

/** Returns the usable keys with a webhook that is on and wants alarms, of some owners or of all. */
export async function findWatchedKeys(app: AlarmContext, ownerIds?: number[]): Promise<WatchedKey[]> {
  const webhooks = await findAlarmWebhooks(app.db, ownerIds)
  const usable = await usableKeys(app, [...new Set(webhooks.map(({ created_by }) => created_by))])
  const ofUsable = webhooks.filter(({ created_by }) => usable.has(created_by))
  const byKey = Map.groupBy(ofUsable, ({ owner_id, created_by }) => nameOf({ owner_id, key_id: created_by }))
  const watched: WatchedKey[] = []
  for (const ofKey of byKey.values()) {
    const [{ owner_id, created_by }] = ofKey as [AlarmWebhook]
    watched.push({ ownerId: owner_id, keyId: created_by, webhooks: ofKey })
  }
  return watched
}

/**
 * Drops the alarms of keys that are no longer watched, and reports the ends that are still to be reported.
 *
 * @param watched the watched keys of the owners, or of all owners
 */
export async function finishAlarms(
  app: AlarmContext,
  watched: WatchedKey[],
  ownerIds?: number[],
): Promise<void> {
  const alarms = await findAlarms(app.db, ownerIds)
  if (alarms.length === 0) return
  const names = new Set(watched.map(({ ownerId, keyId }) => nameOf({ owner_id: ownerId, key_id: keyId })))
  await dropAlarms(
    app.db,
    alarms.filter((alarm) => !names.has(nameOf(alarm))),
  )
  for (const alarm of alarms)
    if (!alarm.is_open && names.has(nameOf(alarm)))
      await attempted(app, () => reportEnd(app.db, alarm, app.clock(alarm.owner_id)))
}

/**
 * Compares the findings of keys with their alarms, and opens, keeps and resolves alarms, in pages. Returns the keys that
 * could not be evaluated or stored; one such key does not hold up the others.
 */
export async function evaluate(
  app: AlarmContext,
  watched: WatchedKey[],
  mayWork: () => boolean,
): Promise<WatchedKey[]> {
  const unfinished: WatchedKey[] = []
  for (let start = 0; start < watched.length; start += keysPerPage) {
    const page = watched.slice(start, start + keysPerPage)
    if (!mayWork()) unfinished.push(...page)
    else
      unfinished.push(...(await evaluatePage(app, page, mayWork).catch((error) => failed(app, page, error))))
  }
  return unfinished
}

async function evaluatePage(
  app: AlarmContext,
  page: WatchedKey[],
  mayWork: () => boolean,
): Promise<WatchedKey[]> {
  const { db, liveDb } = app
  const found = await findKeysByIds(
    liveDb,
    page.map(({ keyId }) => keyId),
  )
  const keys = new Map(found.map((key) => [key.id, key]))
  const subjects: Subject[] = []
  const keysOfSubjects: ApiKey[] = []
  const evaluated: WatchedKey[] = []
  for (const watched of page) {
    const { keyId, ownerId } = watched
    const key = keys.get(keyId)
    if (!key) continue
    subjects.push({ keyId, hostId: key.host_id, ownerId, permissions: key.permissions })
    keysOfSubjects.push(key)
    evaluated.push(watched)
  }
  const facts = await readFacts(app, subjects, Promise.resolve(keysOfSubjects))
  const alarms = await findAlarmsOfKeys(
    db,
    evaluated.map(({ ownerId, keyId }) => ({ owner_id: ownerId, key_id: keyId })),
  )
  const alarmsOf = Map.groupBy(alarms, nameOf)
  const unfinished: WatchedKey[] = []
  for (const [index, watched] of evaluated.entries()) {
    const own = alarmsOf.get(nameOf({ owner_id: watched.ownerId, key_id: watched.keyId })) ?? []
    const transitions = compare(own, findingsBySubject(facts[index] as HealthFacts))
    const isStored = await attempted(app, async () => {
      for (const transition of transitions) {
        if (!mayWork()) throw new Error('The lease was lost')
        await carryOut(app, watched, transition)
      }
    })
    if (!isStored) unfinished.push(watched)
  }
  return unfinished
}

async function carryOut(app: AlarmContext, watched: WatchedKey, transition: Transition): Promise<void> {
  const { db, clock, config } = app
  const { ownerId, keyId, webhooks } = watched
  const now = clock(ownerId)
  if (transition.next === 'resolve') {
    await resolveAlarm(db, transition.alarm, now)
    return
  }
  const finding = serializeFinding(transition.finding, config.publicUrl)
  if (transition.next === 'keep') {
    const { alarm } = transition
    if (untold(webhooks, finding, alarm.opened_for).length > 0) await tellMore(db, alarm, finding, now)
    else if (!isDeepStrictEqual(finding, alarm.finding)) await noteSeen(db, alarm, finding)
    return
  }
  const identity = identityOf(transition.finding)
  const { code } = transition.finding
  await openAlarm(app, { owner_id: ownerId, key_id: keyId }, { identity, code, finding }, now)
}

/** Runs work that may fail, and returns whether it succeeded. */
async function attempted(app: AlarmContext, work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    warn(app, error)
    return false
  }
}

function failed(app: AlarmContext, page: WatchedKey[], error: unknown): WatchedKey[] {
  warn(app, error)
  return page
}

function warn({ log }: AlarmContext, error: unknown): void {
  log.warn({ error: String(error) }, 'Cannot evaluate or store alarms')
}

function nameOf({ owner_id, key_id }: KeyOfOwner | Alarm): string {
  return `${owner_id}/${key_id}`
}
