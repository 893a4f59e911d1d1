/**
 * From a finding to its alarms (decisions §29). An alarm is a stored document, so neither a restart nor a change of the
 * leader repeats or loses one:
 *
 *     (none) ── the finding appears ──▶ open ── the finding is gone ──▶ resolving ── every end is reported ──▶ (none)
 *                alarm.opened           │ ▲                             │ ▲
 *                                       │ │                             └─┘ a webhook's opening waits no longer:
 *                                       │ │                                 alarm.resolved for it
 *                                       └─┘ a webhook is new, or on again: alarm.opened for it
 *
 * A finding that returns while its old alarm is resolving is a new alarm.
 *
 *     from any state: the key has ended, or no webhook of it that is on wants alarms ──▶ (none), and nothing is sent
 *
 * Everything here is pure. `evaluate.ts` reads what goes in and `store.ts` carries out what comes out.
 */

import type { Webhook } from '../../webhooks/model.ts'
import { type Finding, identityOf } from '../findings.ts'
import type { Alarm } from './model.ts'

/** What happens to the alarms of one key. */
export type Transition =
  | { next: 'open'; finding: Finding }
  /** The finding lasts. Webhooks that have not been told are told now. */
  | { next: 'keep'; alarm: Alarm; finding: Finding }
  | { next: 'resolve'; alarm: Alarm }

/** Maximum number of a key's open alarms of one code. A channel that ends may take hundreds of calendars with it. */
const openOfCode = 20

/**
 * Compares the findings of a key, each about one subject, with its open alarms. Beyond {@link openOfCode} alarms of one
 * code, a finding waits until others have ended.
 */
export function compare(alarms: Alarm[], findings: Finding[]): Transition[] {
  const open = new Map(alarms.filter(({ is_open }) => is_open).map((alarm) => [alarm.identity, alarm]))
  const kept: Transition[] = []
  const appeared: Finding[] = []
  for (const finding of findings) {
    const alarm = open.get(identityOf(finding))
    if (alarm) kept.push({ next: 'keep', alarm, finding })
    else appeared.push(finding)
    open.delete(identityOf(finding))
  }
  const ended = [...open.values()].map((alarm): Transition => ({ next: 'resolve', alarm }))
  return [...kept, ...openings(appeared, kept), ...ended]
}

function openings(appeared: Finding[], kept: Transition[]): Transition[] {
  const counts = new Map<string, number>()
  for (const one of kept) if (one.next === 'keep') count(counts, one.finding.code)
  const opened = appeared.filter(({ code }) => count(counts, code) <= openOfCode)
  return opened.map((finding) => ({ next: 'open', finding }))
}

/** Counts one more of a code, and returns the number. */
function count(counts: Map<string, number>, code: string): number {
  const number = (counts.get(code) ?? 0) + 1
  counts.set(code, number)
  return number
}

type AlarmWebhook = Pick<Webhook, 'id' | 'events' | 'listening_id'>
/** The fields of a finding that say which webhook it is about, if any. */
interface About {
  webhook_id?: number
}

/** Returns the webhooks that must be told of an alarm's opening and have not been told since they listen. */
export function untold<W extends AlarmWebhook>(
  webhooks: W[],
  { webhook_id }: About,
  openedFor: Alarm['opened_for'],
): W[] {
  return webhooks.filter((webhook) => {
    // A failing channel cannot report itself.
    if (webhook.id === webhook_id || !webhook.events.includes('alarm.opened')) return false
    return !isTold(webhook, openedFor)
  })
}

/** Returns the webhooks that are told of an alarm's end: those that were told of its opening, or want ends alone. */
export function toldOfEnd<W extends AlarmWebhook>(
  webhooks: W[],
  { webhook_id }: About,
  openedFor: Alarm['opened_for'],
): W[] {
  return webhooks.filter((webhook) => {
    const { id, events } = webhook
    if (id === webhook_id || !events.includes('alarm.resolved')) return false
    return !events.includes('alarm.opened') || isTold(webhook, openedFor)
  })
}

function isTold({ id, listening_id }: AlarmWebhook, openedFor: Alarm['opened_for']): boolean {
  return openedFor.some((told) => told.webhook_id === id && told.listening_id === listening_id)
}
