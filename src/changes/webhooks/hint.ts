import { toTimestamp } from '../../core/clock.ts'
import { parseFeedTime } from '../../host-clock/format.ts'

/** The events that hints announce. */
export const hintEvents = ['booking.changed', 'message.created'] as const
export type HintEvent = (typeof hintEvents)[number]

/** The events of alarms, which the findings of `changes/health` cause (decisions §29). */
export const alarmEvents = ['alarm.opened', 'alarm.resolved'] as const
export type AlarmEvent = (typeof alarmEvents)[number]

/** The events that a webhook can ask for. */
export const webhookEvents = [...hintEvents, ...alarmEvents] as const
export type WebhookEvent = (typeof webhookEvents)[number]

/** Returns true if a post announces a change, so that a sandbox's faults of hints concern it. */
export function isHintEvent(event: string): event is HintEvent {
  return hintEvents.some((one) => one === event)
}

/** The body of an alarm: the finding, with the alarm's id and, once it is resolved, the time of its end. */
export interface AlarmPost {
  type: AlarmEvent
  timestamp: string
  data: { alarm_id: number; code: string; resolved_at?: string } & Record<string, unknown>
}

/** The body of a test. */
export interface TestPost {
  type: 'webhook.test'
  timestamp: string
  data: { text: string }
}

/**
 * A text with a letter beyond Latin-1 and a slash. A receiver that parses a body and encodes it again, instead of
 * verifying the bytes that it received, usually writes one of them differently. So it fails at the test, not at its
 * first alarm.
 */
export const testText = 'Łódź/Lodz'

/** Faults that a sandbox may inject into a hint's first attempt (decisions §22). */
export const hintFaults = ['hint_lost', 'hint_twice', 'hint_late', 'hint_forged', 'hint_old'] as const

/** A fault to be injected into a hint's first attempt. */
export interface HintFault {
  fault: (typeof hintFaults)[number]
  delay_milliseconds: number
  /** True if the partner must not see the fault in the list of deliveries. */
  isHidden: boolean
}

/** A hint's data: the booking that changed or has a new message. Everything else is in the feeds. */
export interface HintData {
  booking_id: number
  listing_id: number
  /** Version of the change or message, which is its position in the feed. */
  version: string
  message_id?: number
}

/** The body of a hint (decisions §21). It is minimal because the feeds, not the hints, are authoritative. */
export interface Hint {
  type: HintEvent
  /** Time of the change, with microseconds like every timestamp of the contract (decisions §1). */
  timestamp: string
  data: HintData
}

/**
 * Builds a hint.
 *
 * @param data the hint's data, whose version has the contract's format, `Y-m-d H:i:s` in UTC
 */
export function hintOf(type: HintEvent, { booking_id, listing_id, version, message_id }: HintData): Hint {
  const data = { booking_id, listing_id, version, ...(message_id === undefined ? {} : { message_id }) }
  return { type, timestamp: toTimestamp(parseFeedTime(version)), data }
}
