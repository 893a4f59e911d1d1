import type { Edit } from './seam.ts'

/** A promise that is broken by a small edit of the sources, and the tests that must notice. */
export interface Defect {
  /** What goes wrong: the comment `// If this breaks: …` above the code that is edited. */
  what: string
  edit: Edit
  /** Beginnings of the tests' paths in `test/`. */
  tests: string[]
}

/** The promises of docs/contract.md and docs/architecture.md, each broken in the place that keeps it. */
export const defects: Defect[] = [
  // The feed loses nothing.
  { what: 'two changes of a host get the same version', edit: 'drop', tests: ['host-clock/'] },
  { what: 'a feed ends after its first page', edit: 'never', tests: ['changes/feed/pages.'] },
  { what: 'an old acknowledgement moves a consumer back', edit: 'always', tests: ['changes/consumers/'] },
  { what: 'a change wakes nobody who waits for it', edit: 'drop', tests: ['host-clock/'] },
  {
    what: 'a process whose clock is wrong gives versions',
    edit: 'drop',
    tests: ['platform/mongo/clock-watch.'],
  },
  { what: 'a change is handled again after a kill', edit: 'drop', tests: ['cli/poll.'] },
  {
    what: 'a poll repeats a feed that does not move forward, for ever',
    edit: 'drop',
    tests: ['cli/bad-network.'],
  },
  // Nothing is sold twice.
  { what: 'the last unit is sold twice', edit: 'boundary', tests: ['inventory/availability/'] },
  {
    what: 'bookings of one transaction do not count for each other',
    edit: 'drop',
    tests: ['stays/bookings/create.'],
  },
  // No write undoes another.
  {
    what: "a listing's write undoes another one that came between",
    edit: 'drop',
    tests: ['inventory/listings/write.'],
  },
  // A request with an Idempotency-Key has one effect, and so has a message.
  {
    what: 'a request with an Idempotency-Key is carried out again',
    edit: 'never',
    tests: ['http/idempotency.'],
  },
  { what: 'a message that is sent again is stored again', edit: 'never', tests: ['stays/messages/'] },
  // A side effect is not lost.
  { what: 'a job that has failed once is not tried again', edit: 'always', tests: ['stays/users/events.'] },
  // Limits are exact, and everything is bounded.
  { what: 'a limit admits one request too many', edit: 'boundary', tests: ['platform/rate-limiter.'] },
  {
    what: 'a flood of refused requests reaches the database',
    edit: 'always',
    tests: ['http/early-start.'],
  },
  // What is begun before a request is admitted has no effect, and counts only if it is.
  { what: 'a refused request creates a booking', edit: 'drop', tests: ['http/early-start.'] },
  { what: 'a refused request deletes what it names', edit: 'never', tests: ['http/early-start.'] },
  { what: 'a refused poll counts as having read the feed', edit: 'drop', tests: ['http/early-start.'] },
  {
    what: 'a key whose permissions have changed is served as before',
    edit: 'never',
    tests: ['http/early-start.'],
  },
  { what: 'a room type has more ranges than it may', edit: 'never', tests: ['inventory/availability/'] },
  // A host's data are its own, and on one shard.
  { what: 'a list shows what belongs to other hosts', edit: 'drop', tests: ['inventory/listings/'] },
  {
    what: 'a statement of a transaction names no host',
    edit: 'drop',
    tests: ['platform/mongo/one-shard.'],
  },
  // Silence is noticed.
  { what: 'nobody notices that a feed is no longer read', edit: 'never', tests: ['changes/health/'] },
  // A key does what it may, and secrets stay secret.
  { what: 'a key does what it has no permission for', edit: 'drop', tests: ['http/every-route.'] },
  { what: 'an expired key is accepted', edit: 'drop', tests: ['access/keys/'] },
  { what: 'a hint is posted into a private network', edit: 'always', tests: ['platform/outgoing/address.'] },
  { what: 'the log shows what was sent in a path', edit: 'always', tests: ['access/requests/'] },
  {
    what: 'an API key is shown as the name of an unknown field',
    edit: 'always',
    tests: ['http/ignored-fields.'],
  },
  { what: 'a page runs scripts of others', edit: 'drop', tests: ['http/security-headers.'] },
  // Who is erased stays erased.
  { what: 'a guest whose erasure has begun gets a booking', edit: 'drop', tests: ['stays/guests/'] },
  // A certification grades what a product does, not what it was told.
  {
    what: 'a product sees which faults its certification makes',
    edit: 'always',
    tests: ['certification/certification.'],
  },
]
