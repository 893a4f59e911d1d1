/** The profiles that a product can be certified for, in the order in which they are graded (decisions §25). */
export const profiles = ['feed', 'inventory', 'bookings', 'webhooks'] as const
export type Profile = (typeof profiles)[number]

/** The requirement that a product must meet to pass each case. */
export const rules = {
  'feed.pages': 'The first sync reads every page; 130 bookings fill more than one',
  'feed.changes':
    'The product reads changes, cancellations of bookings that it has never seen, and bursts of changes',
  'feed.retry-after':
    'After a 429, the feed is not read again before `Retry-After` has passed (one early read is tolerated)',
  'feed.errors': 'While the feed responds 500 or 502 for ten seconds, it is requested at most six times',
  'feed.lost': 'A response that was lost or cut off is requested again, and none of its items is skipped',
  'feed.unauthorized': 'After a 401, the product stops after at most three more requests',
  'feed.restart':
    'After a crash, the product continues from its stored position and misses no change made while it was stopped',
  'feed.pace': 'In a minute without changes, the first page of the feed is read at most 13 times',
  'feed.continues': 'After the first sync, the feed is read from the beginning at most twice',
  'feed.state': 'The bookings that the product holds are those that the feed delivered',
  'inventory.year': 'For every room type, every night from tomorrow to 365 days ahead is pushed',
  'inventory.ranges':
    'Consecutive equal nights are pushed as ranges, with at most ten items more than twice the number of ranges needed',
  'inventory.change': 'A change pushes only the nights that changed, at most a tenth of the calendar',
  'inventory.retry-after':
    'After a 429, nothing is pushed before `Retry-After` has passed (one early push is tolerated)',
  'inventory.refused': 'A push that was refused with 422 is not sent again unchanged',
  'inventory.late':
    'A push of units that were counted before a booking says so with `as_of`, so that the nights are not sold again',
  'inventory.left': 'At the end, the nights have the requested units',
  'bookings.key': 'Every booking is sent with an `Idempotency-Key`',
  'bookings.lost':
    'After a lost response, the same body is sent again with the same key, so that only one booking exists',
  'bookings.refused': 'A booking that was refused with 422 is not sent again unchanged',
  'bookings.unavailable': 'If no units are left, other nights are booked instead',
  'bookings.cancel': 'A booking is cancelled',
  'webhooks.quick': 'A hint gets a 2xx response within five seconds',
  'webhooks.followed': 'Within a minute after a hint, the feed or the booking is read',
  'webhooks.forged': 'A hint with a wrong signature is refused with 4xx',
  'webhooks.old': 'A hint signed ten minutes ago is refused with 4xx',
  'webhooks.doubled': 'A hint that is sent twice is accepted twice, both times with 2xx',
  'webhooks.lost': 'A change whose hint was lost is still read within ten minutes',
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

/** Time limits and durations of a certification, in milliseconds (decisions §25). */
export const bounds = {
  /** Interval between two checks of the running certifications. */
  checkInterval: second,
  /** Time without progress after which a step fails its cases. */
  stepTimeout: 5 * minute,
  /**
   * Silence after which a product counts as stopped: twice its pace, but at least `silence` and at most
   * `longestSilence`.
   */
  silence: 20 * second,
  longestSilence: 3 * minute,
  /** Time without changes during which `feed.pace` counts requests. */
  quiet: minute,
  /** Longest wait for the clock to catch up with the versions of a burst. */
  catchUp: 4 * minute,
  /**
   * Minimum and maximum duration of the feed's 429 responses. Within these limits, the time is 2.5 times the product's
   * pace. Pushes get a 429 for the minimum time.
   */
  minRateLimitDuration: 10 * second,
  maxRateLimitDuration: minute,
  /** Duration of each error fault (500 or 502). */
  errorDuration: 10 * second,
  /** Duration of each connection fault (lost or cut responses). */
  lossDuration: 2 * second,
  /** Time limits for responding to a hint (`quick`) and for then reading the feed or the booking (`followed`). */
  quick: 5 * second,
  followed: minute,
  /** How soon a change must be read if its hint is lost. */
  missedHintWindow: 10 * minute,
  /** How long a step may take before the certification expires. */
  expiry: 120 * minute,
  /**
   * Maximum time for which a request is held. It is shorter than `silence`, so a held request does not count as
   * silence.
   */
  hold: 10 * second,
  /** Delay before a step is played, to let the product receive the responses that were held before the step starts. */
  settle: 500,
  /** Maximum time between equal requests that count as automatic retries by the product's runtime. */
  runtime: 100,
}
export type Bounds = typeof bounds
