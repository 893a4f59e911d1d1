import { toDay, toTimestamp } from '../../core/clock.ts'
import { toVersion } from '../../host-clock/format.ts'
import { intervalOf } from '../../inventory/calendars/due.ts'
import type { CalendarFacts, InventoryFacts } from '../../inventory/facts-store.ts'
import { type FeedName, feedNames } from '../feeds.ts'

/**
 * Says which findings hold for a key (decisions §29): a pure function from what is stored anyway (positions, counts and
 * times) to what is wrong. `facts.ts` reads what goes in, the route shows what comes out, and the alarms compare it with
 * what was open before. No text here contains anything that a guest or a partner wrote.
 */

export type Severity = 'warning' | 'failing'

/** The kinds of findings, with their severity. */
export const severities = {
  feed_unread: 'failing',
  position_ahead: 'failing',
  consumer_behind: 'failing',
  webhook_off: 'failing',
  webhook_failing: 'warning',
  key_expires: 'warning',
  limit_reached: 'warning',
  requests_refused: 'warning',
  writes_refused: 'warning',
  listing_without_price: 'warning',
  calendar_failing: 'failing',
  calendar_conflict: 'failing',
  calendar_incomplete: 'warning',
  nights_open: 'warning',
} as const satisfies Record<string, Severity>
export type FindingCode = keyof typeof severities
export const findingCodes = Object.keys(severities) as FindingCode[]

/** Maximum number of unread changes to count; the count stays at this number beyond it. */
export const countedUnread = 10_000
/** Maximum number of ids that a finding about listings or rooms names. */
export const namedSubjects = 20

const minute = 60_000
/** Time for which a calendar that fails may have no good reading, beyond its own interval. */
export const calendarMilliseconds = 6 * 60 * minute
/** Age beyond which an unread change is a failure, and time for which progress excuses it. */
export const unreadMilliseconds = 30 * minute
/** Time for which a webhook may fail without a success. */
export const failingMilliseconds = 15 * minute
/** Time before a key's expiry at which it is announced. */
export const expiryMilliseconds = 14 * 86_400_000
/** Number of refused or limited requests in an hour from which they are reported. */
export const reportedRequests = 20
/** Maximum number of refusals of one operation to count; the count stays at this number beyond it. */
export const countedRefusals = 100
/** Number of refusals of one operation, without a success in between, from which they are reported. */
export const reportedRefusals = 3

/** What is unread after one position in a feed. */
export interface Unread {
  /** Number of changes after the position, up to {@link countedUnread}. */
  count: number
  /** Version of the oldest of them, from which {@link madeAt} tells its age; null if there is none. */
  oldest: Date | null
}

/** How far a key has read a feed, and what it has not read. */
export interface FeedHealth {
  /** Version of the newest change; null if there is none. */
  newest: Date | null
  /** Null if the key has never read the feed. */
  read: {
    /** Null until a page has shown the key anything. */
    version: Date | null
    at: Date
    /** The last time at which `version` moved forward. */
    movedAt: Date | null
    /** False if every read so far was ahead of the feed (decisions §9), which does not count as having read it. */
    hasBegun: boolean
    /** The first of the last reads, if they were ahead of the feed; otherwise null. */
    aheadSince: Date | null
    unread: Unread
  } | null
}

export interface ConsumerHealth {
  feed: FeedName
  name: string
  /** The last time at which the consumer moved forward, or the time of its creation. */
  progressedAt: Date
  pending: Unread
}

export interface WebhookHealth {
  id: number
  enabled: boolean
  disabled_at: Date | null
  disabled_reason: string | null
  failing_since: Date | null
}

/** An operation that was refused since its last success, in the last seven days. */
export interface RefusedOperation {
  operationId: string
  /** Times of the refusals, oldest first, up to a hundred. */
  refusals: Date[]
}

/** Numbers of a key's requests in the last 60 minutes, in both environments. */
export interface RequestHealth {
  succeeded: number
  refused: number
  limited: number
  failed: number
  unanswered: number
}

/** Everything that the findings of one key depend on. */
export interface HealthFacts {
  /** Current time in the environment, which is ahead of the real time if the sandbox's clock was moved. */
  now: Date
  /** Real time, which decides about the key's expiry everywhere. */
  realNow: Date
  /** Null if the key may not read the feeds. */
  feeds: Record<FeedName, FeedHealth> | null
  consumers: ConsumerHealth[]
  webhooks: WebhookHealth[]
  /** Null if the key never expires. */
  keyExpiresAt: Date | null
  requests: RequestHealth
  refusedOperations: RefusedOperation[]
  /** What is noted about listings and calendars; null if the key may not know. */
  inventory: InventoryFacts | null
}

/** What a finding is about. Together with its code, it tells one finding from another. */
export interface FindingDetails {
  feed?: FeedName
  unread?: number
  consumer?: string
  pending?: number
  webhook_id?: number
  operation_id?: string
  expires_at?: Date
  limited?: number
  refused?: number
  listing_ids?: number[]
  room_ids?: number[]
  count?: number
}

/** Something that is wrong with a key's integration. */
export interface Finding {
  code: FindingCode
  severity: Severity
  /** The moment at which the threshold was crossed; null if the code has no such moment. */
  since: Date | null
  message: string
  details: FindingDetails
}

/** Returns the findings that hold, worst first, then oldest first; those without a moment come last. */
export function findingsOf(facts: HealthFacts): Finding[] {
  return inOrder([...findingsOfKey(facts), ...findingsOfInventory(facts)])
}

/**
 * Returns the same findings, but those about several listings or calendars taken apart, one for each. Alarms are about
 * one subject, because a calendar with a conflict must be told of although another has one already.
 */
export function findingsBySubject(facts: HealthFacts): Finding[] {
  return inOrder([...findingsOfKey(facts), ...inventoriesApart(facts).flatMap(findingsOfInventory)])
}

function inOrder(findings: Finding[]): Finding[] {
  return findings.sort((one, other) => rankOf(one) - rankOf(other) || timeOf(one) - timeOf(other))
}

function findingsOfKey(facts: HealthFacts): Finding[] {
  return [
    ...unreadFeeds(facts),
    ...positionsAhead(facts),
    ...consumersBehind(facts),
    ...webhooksOff(facts),
    ...webhooksFailing(facts),
    ...expiringKey(facts),
    ...limitReached(facts),
    ...requestsRefused(facts),
    ...writesRefused(facts),
  ]
}

type AboutInventory = Pick<HealthFacts, 'now' | 'inventory'>

function findingsOfInventory({ now, inventory }: AboutInventory): Finding[] {
  if (inventory === null) return []
  const { unpricedListings, openListings, calendars } = inventory
  return [
    ...listingsWithoutPrice(unpricedListings),
    ...calendarsFailing(calendars, now),
    ...calendarConflicts(calendars, now),
    ...calendarsIncomplete(calendars),
    ...nightsOpen(openListings),
  ]
}

/** Returns an inventory for each listing and each calendar of one, which has that alone. */
function inventoriesApart({ now, inventory }: AboutInventory): AboutInventory[] {
  if (inventory === null) return []
  const none: InventoryFacts = { unpricedListings: [], openListings: [], calendars: [] }
  return [
    ...inventory.unpricedListings.map((id): InventoryFacts => ({ ...none, unpricedListings: [id] })),
    ...inventory.openListings.map((id): InventoryFacts => ({ ...none, openListings: [id] })),
    ...inventory.calendars.map((calendar): InventoryFacts => ({ ...none, calendars: [calendar] })),
  ].map((one) => ({ now, inventory: one }))
}

/** Returns the worst severity among findings. */
export function statusOf(findings: Finding[]): 'ok' | Severity {
  if (findings.some(({ severity }) => severity === 'failing')) return 'failing'
  return findings.length > 0 ? 'warning' : 'ok'
}

/**
 * Returns a text that tells a finding about one subject from the key's other findings, and is the same while it lasts.
 */
export function identityOf({ code, details }: Pick<Finding, 'code' | 'details'>): string {
  const { feed, consumer, webhook_id, operation_id, listing_ids, room_ids } = details
  const subject = [feed, consumer, webhook_id, operation_id, listing_ids?.[0], room_ids?.[0]]
  return [code, ...subject].filter((part) => part !== undefined).join('/')
}

function rankOf({ severity }: Finding): number {
  return severity === 'failing' ? 0 : 1
}

function timeOf({ since }: Finding): number {
  return since?.getTime() ?? Number.MAX_SAFE_INTEGER
}

function findingOf(code: FindingCode, since: Date | null, message: string, details: FindingDetails): Finding {
  return { code, severity: severities[code], since, message, details }
}

function later(moment: Date, milliseconds: number): Date {
  return new Date(moment.getTime() + milliseconds)
}

/** Returns true if something that goes on for longer than `milliseconds` has begun at `moment`. */
function lastsLonger(moment: Date, milliseconds: number, now: Date): boolean {
  return now.getTime() - moment.getTime() > milliseconds
}

/**
 * Returns when an unread change was made. Its version is its time, unless that is ahead of the clock: after a restore,
 * versions are a day ahead, and a sandbox that was cleared keeps its versions although its clock starts again. Until the
 * clock has caught up, the last read stands in for it, because otherwise a reader that has stopped would go unnoticed.
 */
function madeAt(oldest: Date, lastRead: Date, now: Date): Date {
  return oldest > now ? lastRead : oldest
}

/** A first sync of an old feed is not a failure, so a position that moves forward excuses whatever it has not reached. */
function isSilent(made: Date, movedAt: Date | null, now: Date): boolean {
  if (!lastsLonger(made, unreadMilliseconds, now)) return false
  // If this breaks: nobody notices that a feed is no longer read
  return movedAt === null || lastsLonger(movedAt, unreadMilliseconds, now)
}

/** A key that has a consumer in a feed reads by the consumer's position, so its own says nothing. */
function unreadFeeds({ feeds, consumers, now }: HealthFacts): Finding[] {
  const findings: Finding[] = []
  for (const feed of feedNames) {
    const read = feeds?.[feed].read
    if (!read?.hasBegun || consumers.some((consumer) => consumer.feed === feed)) continue
    const { oldest, count } = read.unread
    if (oldest === null) continue
    const made = madeAt(oldest, read.at, now)
    if (!isSilent(made, read.movedAt, now)) continue
    const message = `This key has not read the ${nameOf(feed)} feed for more than 30 minutes: ${changesOf(count)} unread, the oldest from ${toTimestamp(oldest)}`
    findings.push(findingOf('feed_unread', later(made, unreadMilliseconds), message, { feed, unread: count }))
  }
  return findings
}

/** Empty pages look like news that never comes. A consumer's own position may be ahead too, so it is no excuse. */
function positionsAhead({ feeds }: HealthFacts): Finding[] {
  const findings: Finding[] = []
  for (const feed of feedNames) {
    const since = feeds?.[feed].read?.aheadSince
    if (!since) continue
    const newest = feeds?.[feed].newest
    const where = newest ? `whose newest version is ${toVersion(newest)}` : 'which has no version yet'
    const message = `This key reads the ${nameOf(feed)} feed from a position that is ahead of the feed, ${where}, so it is shown nothing: its state is from another service or from before a restore`
    findings.push(findingOf('position_ahead', since, message, { feed }))
  }
  return findings
}

function consumersBehind({ feeds, consumers, now }: HealthFacts): Finding[] {
  const findings: Finding[] = []
  for (const { feed, name, progressedAt, pending } of feeds ? consumers : []) {
    const { oldest, count } = pending
    if (oldest === null) continue
    const readAt = feeds?.[feed].read?.at.getTime() ?? 0
    const made = madeAt(oldest, new Date(Math.max(readAt, progressedAt.getTime())), now)
    if (!isSilent(made, progressedAt, now)) continue
    const message = `The consumer "${name}" of the ${nameOf(feed)} feed has acknowledged nothing for more than 30 minutes: ${changesOf(count)} pending, the oldest from ${toTimestamp(oldest)}`
    const details = { feed, consumer: name, pending: count }
    findings.push(findingOf('consumer_behind', later(made, unreadMilliseconds), message, details))
  }
  return findings
}

const offMessages: Record<string, string> = {
  failing: 'it failed for too long',
  gone: 'it responded with 410',
}

function webhooksOff({ webhooks }: HealthFacts): Finding[] {
  const findings: Finding[] = []
  for (const { id, enabled, disabled_at, disabled_reason } of webhooks) {
    const why = offMessages[disabled_reason ?? '']
    if (enabled || disabled_at === null || why === undefined) continue
    const message = `Webhook ${id} was turned off because ${why}; turn it on again once its URL responds`
    findings.push(findingOf('webhook_off', disabled_at, message, { webhook_id: id }))
  }
  return findings
}

function webhooksFailing({ webhooks, now }: HealthFacts): Finding[] {
  const findings: Finding[] = []
  for (const { id, enabled, failing_since } of webhooks) {
    if (!enabled || failing_since === null || !lastsLonger(failing_since, failingMilliseconds, now)) continue
    const message = `Webhook ${id} has failed since ${toTimestamp(failing_since)} without a success`
    findings.push(
      findingOf('webhook_failing', later(failing_since, failingMilliseconds), message, { webhook_id: id }),
    )
  }
  return findings
}

function expiringKey({ keyExpiresAt, realNow }: HealthFacts): Finding[] {
  if (keyExpiresAt === null) return []
  const since = later(keyExpiresAt, -expiryMilliseconds)
  if (since > realNow) return []
  const message = `This key expires at ${toTimestamp(keyExpiresAt)}; ask for another expiry or a new key`
  return [findingOf('key_expires', since, message, { expires_at: keyExpiresAt })]
}

function limitReached({ requests: { limited } }: HealthFacts): Finding[] {
  if (limited < reportedRequests) return []
  const message = `${limited} requests of the last 60 minutes exceeded the rate limit of this key (429)`
  return [findingOf('limit_reached', null, message, { limited })]
}

function requestsRefused({ requests }: HealthFacts): Finding[] {
  const { refused } = requests
  const all = Object.values(requests).reduce((sum, count) => sum + count, 0)
  if (refused < reportedRequests || refused * 2 <= all) return []
  const message = `${refused} of the ${all} requests of the last 60 minutes were refused (4xx); GET /v1/requests shows why`
  return [findingOf('requests_refused', null, message, { refused })]
}

function writesRefused({ refusedOperations }: HealthFacts): Finding[] {
  const findings: Finding[] = []
  for (const { operationId, refusals } of refusedOperations) {
    const since = refusals[reportedRefusals - 1]
    if (since === undefined) continue
    const refused = refusals.length
    const howMany = refused < countedRefusals ? refused : `${countedRefusals} or more`
    const message = `Every request to "${operationId}" since ${toTimestamp(refusals[0] as Date)} was refused, ${howMany} in all; GET /v1/requests shows why`
    findings.push(findingOf('writes_refused', since, message, { operation_id: operationId, refused }))
  }
  return findings
}

function listingsWithoutPrice(listingIds: number[]): Finding[] {
  if (listingIds.length === 0) return []
  const message = `${publishedListings(listingIds)} a room type without any price, so its nights cost 0`
  return [findingOf('listing_without_price', null, message, aboutListings(listingIds))]
}

/** Without availability and without a calendar that was read, nothing counts the units of a night. */
function nightsOpen(listingIds: number[]): Finding[] {
  if (listingIds.length === 0) return []
  const message = `${publishedListings(listingIds)} a room type with neither availability for today or later nor a calendar that has been read, so its nights sell without limit`
  return [findingOf('nights_open', null, message, aboutListings(listingIds))]
}

function publishedListings({ length }: number[]): string {
  return length === 1 ? 'A published listing has' : `${length} published listings have`
}

function aboutListings(ids: number[]): FindingDetails {
  return { listing_ids: ids.slice(0, namedSubjects), count: ids.length }
}

function calendarsFailing(calendars: CalendarFacts[], now: Date): Finding[] {
  const late = calendars.filter((one) => one.status === 'failing' && outOfTime(one) < now)
  if (late.length === 0) return []
  const since = new Date(Math.min(...late.map((one) => outOfTime(one).getTime())))
  const message = `${calendarsHave(late)} had no good reading for more than 6 hours, so what is sold elsewhere may be sold here again`
  return [findingOf('calendar_failing', since, message, aboutRooms(late))]
}

/** Returns the moment at which a calendar without a further good reading has been without one for too long. */
function outOfTime({ read_at, set_at, refresh_seconds }: CalendarFacts): Date {
  return later(read_at ?? set_at, intervalOf({ refresh_seconds }) * 1000 + calendarMilliseconds)
}

/** Nights that have passed since the reading are no conflict any more. */
function calendarConflicts(calendars: CalendarFacts[], now: Date): Finding[] {
  const today = toDay(now)
  const found = calendars.filter(({ conflicts }) => conflicts.some((night) => night >= today))
  if (found.length === 0) return []
  const message = `${calendarsHave(found)} nights on which more is taken than the room type has rooms, here and elsewhere together`
  return [findingOf('calendar_conflict', null, message, aboutRooms(found))]
}

function calendarsIncomplete(calendars: CalendarFacts[]): Finding[] {
  const found = calendars.filter(({ skipped }) => skipped > 0)
  if (found.length === 0) return []
  const message = `${calendarsHave(found)} events that cannot be read, which block no night`
  return [findingOf('calendar_incomplete', null, message, aboutRooms(found))]
}

function calendarsHave({ length }: CalendarFacts[]): string {
  return length === 1 ? 'The calendar of a room has' : `The calendars of ${length} rooms have`
}

function aboutRooms(calendars: CalendarFacts[]): FindingDetails {
  const ids = calendars.map(({ room_id }) => room_id)
  return { room_ids: ids.slice(0, namedSubjects), count: ids.length }
}

function nameOf(feed: FeedName): string {
  return feed === 'bookings' ? 'booking' : 'message'
}

function changesOf(count: number): string {
  if (count >= countedUnread) return `${countedUnread} or more changes are`
  return count === 1 ? '1 change is' : `${count} changes are`
}
