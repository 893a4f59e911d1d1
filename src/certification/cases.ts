/** The profiles that a product can be certified for, in the order in which they are graded (decisions §25). */
export const profiles = ['feed', 'inventory', 'bookings', 'webhooks'] as const
export type Profile = (typeof profiles)[number]

/** The rule that a product must meet in each case. */
export const rules = {
  'feed.pages': 'The first sync reads every page: 130 bookings are more than one',
  'feed.changes': 'Changes, cancellations of bookings that were never seen, and bursts arrive',
  'feed.retry-after':
    'After a 429 the feed is not read again before `Retry-After` is over (one more read is overlooked)',
  'feed.errors': 'While the feed is 500 or 502 for ten seconds, at most six requests try it',
  'feed.lost': 'A response that was lost or cut is asked for again: nothing of it is skipped',
  'feed.unauthorized': 'After a 401 the product stops: at most three more requests',
  'feed.restart': 'After a crash the product goes on at its stored position, and misses nothing of the stop',
  'feed.pace': 'In a quiet minute the first page of the feed is read at most 13 times',
  'feed.continues': 'The feed is read from its beginning fewer than three times after the first sync',
  'feed.state': 'What the product holds is what the feed delivered to it',
  'inventory.year': 'Every night from tomorrow to 365 days ahead is pushed, of every room type',
  'inventory.ranges':
    'Equal nights are pushed as ranges: at most twice as many items as runs of equal nights, plus ten',
  'inventory.change':
    'A change pushes the nights that changed, not the calendar: at most a tenth of its nights',
  'inventory.retry-after':
    'After a 429 nothing is pushed before `Retry-After` is over (one more push is overlooked)',
  'inventory.refused': 'What was refused with 422 is not sent again unchanged',
  'inventory.left': 'At the end the nights have the units that were asked for',
  'bookings.key': 'Every booking is sent with an `Idempotency-Key`',
  'bookings.lost': 'After a lost response the same body is sent with the same key: one booking',
  'bookings.refused': 'A booking that was refused with 422 is not repeated unchanged',
  'bookings.unavailable': 'Where the units are gone, other nights can be booked',
  'bookings.cancel': 'A booking is cancelled',
  'webhooks.quick': 'A hint is answered within five seconds',
  'webhooks.followed': 'Within a minute of a hint the feed or the booking is read',
  'webhooks.forged': 'A hint with a wrong signature is refused with 4xx',
  'webhooks.old': 'A hint of ten minutes ago is refused with 4xx',
  'webhooks.doubled': 'A hint that comes twice is taken twice: both 2xx',
  'webhooks.lost': 'What a lost hint would have told is read within ten minutes all the same',
} as const
export type CaseName = keyof typeof rules

/** Returns a case's profile. */
export function profileOf(name: CaseName): Profile {
  return name.split('.')[0] as Profile
}

/** Returns the cases of the chosen profiles, in the order of `rules`. */
export function casesOf(chosen: readonly Profile[]): CaseName[] {
  return (Object.keys(rules) as CaseName[]).filter((name) => chosen.includes(profileOf(name)))
}

/** Returns the chosen profiles in the order of `profiles`, without duplicates. */
export function inOrder(chosen: readonly Profile[]): Profile[] {
  return profiles.filter((profile) => chosen.includes(profile))
}

const second = 1000
const minute = 60 * second

/** The times that govern a certification and its grading, in milliseconds (decisions §25). */
export const bounds = {
  /** Interval between two looks at the running certifications. */
  look: second,
  /** Time without progress after which a step fails its cases. */
  stepTimeout: 5 * minute,
  /** Silence that counts as a stop: twice the product's pace, but at least `silence` and at most `longestSilence`. */
  silence: 20 * second,
  longestSilence: 3 * minute,
  /** Duration of the quiet minute of `feed.pace`. */
  quiet: minute,
  /** Longest wait for the clock to catch up with the versions of a burst. */
  catchUp: 4 * minute,
  /**
   * Limits for the duration of the feed's 429, which is 2.5 times the product's pace. The 429 for pushes lasts the
   * minimum.
   */
  limitedAtLeast: 10 * second,
  limitedAtMost: minute,
  /** Duration of each of the two faults, 500 and 502. */
  failing: 10 * second,
  /** Duration of each of the two faults, lost responses and cut responses. */
  losing: 2 * second,
  /** A hint must be answered within `quick`, and followed by a read within `followed`. */
  quick: 5 * second,
  followed: minute,
  /** A change whose hint is lost must be read within this time. */
  missedHintWindow: 10 * minute,
  /** A running certification expires if its step is not completed within this time. */
  expiry: 120 * minute,
  /** Maximum time to hold a request, short enough that holding it is not mistaken for silence. */
  hold: 10 * second,
  /** Time allowed for the responses to released requests to reach the product before a step is played. */
  settle: 500,
  /** Equal requests within this time count as automatic retries by the product's runtime. */
  runtime: 100,
}
export type Bounds = typeof bounds
