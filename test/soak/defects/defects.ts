// biome-ignore-all lint/suspicious/noTemplateCurlyInString: lines of the sources, as they stand there
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Glob } from 'bun'
import { root } from '../../support/processes.ts'

/** A mistake that a tired engineer could make in one line, and the tests that must catch it. */
export interface Defect {
  what: string
  /** The correct line, which occurs exactly once in all sources. */
  right: string
  wrong: string
  /** Path endings of folders or files in `test/`. */
  tests: string[]
}

type Row = [what: string, right: string, wrong: string, tests: string]

const rows: Row[] = [
  [
    'a booking for an erased guest',
    'if (tick.hasErasures) await requireNotErased',
    'if (!tick) await requireNotErased',
    'stays/guests/guests.test.ts',
  ],
  [
    'an Idempotency-Key stored as it was sent',
    '_id: `${owner_id}/${hash}`',
    '_id: `${owner_id}/${idempotencyKey || hash}`',
    'http/idempotency.test.ts',
  ],
  [
    'a certification of another key',
    '{ _id: id, key_id: keyId }',
    '{ _id: id }',
    'certification/certification.test.ts',
  ],
  [
    'a fault of a certification in the request log',
    'return this.isObserved ? undefined : this.fault',
    'return this.fault',
    'certification/certification.test.ts',
  ],
  [
    'a document of another host that asks at the same moment',
    '({ owner_id, id }) => `${owner_id}/${id}`)',
    '({ id }) => id)',
    'platform/mongo/look-up.test.ts',
  ],
  [
    'an e-mail address refused because another host uses it',
    '{ owner_id: ownerId, email_key }',
    '{ email_key }',
    'users',
  ],
  [
    'a read permission that allows writing',
    "permission: 'users.write', body",
    "permission: 'users.read', body",
    'http/every-route.test.ts',
  ],
  [
    'a missing permission check',
    "permission: 'bookings.write', body: 'json', errors: ['not_found', 'conflict'] },\n        body: MessageCreate",
    "permission: 'any', body: 'json', errors: ['not_found', 'conflict'] },\n        body: MessageCreate",
    'http/every-route.test.ts',
  ],
  [
    'one booking too many',
    'find(({ left }) => left === 0)',
    'find(({ left }) => left === -1)',
    'availability bookings',
  ],
  [
    'units counted again that the push already included',
    'if (isUnknown(night.row, createdAt(stay))) night.booked += 1',
    'night.booked += 1',
    'availability bookings',
  ],
  [
    'a booking without a check of its units',
    'await requireUnits(db, session, bookings)',
    'void requireUnits',
    'availability bookings',
  ],
  [
    'bookings in one transaction that do not count for each other',
    'taken.push(booking)',
    '',
    'bookings/create.test.ts',
  ],
  [
    'a late push that counts as one that knows everything',
    'as_of: asOf(item),',
    'as_of: null,',
    'availability/as-of.test.ts',
  ],
  [
    'an older count that replaces a newer one',
    'if (newer === null || newer <= informed) continue',
    'continue',
    'availability/as-of.test.ts',
  ],
  ['a booking that comes back as a block and counts twice', '!own.has(block)', 'true', 'stays/capacity'],
  [
    'an erasure that the clock does not count',
    '{ sequence: 1, erasures: 1 }',
    '{ sequence: 1 }',
    'stays/guests/guests.test.ts',
  ],
  [
    'two moves of one booking in one transaction',
    'bookings.set(id, { ...seen, ...values })',
    '',
    'bookings/partner-transitions.test.ts',
  ],
  ['a discount that starts a night too late', 'nights >= length', 'nights > length', 'bookings'],
  [
    'a move without its audit entry',
    'actor: caller.isSandbox ? null : partnerActor(caller)',
    'actor: caller.isSandbox ? partnerActor(caller) : null',
    'bookings',
  ],
  [
    'a range that ends where the next begins',
    '({ end_date }) => end_date < row.start_date',
    '({ end_date }) => end_date <= row.start_date',
    'availability',
  ],
  [
    'a night too many',
    'daysBetween(start, end) < maxNights',
    'daysBetween(start, end) <= maxNights',
    'nights',
  ],
  [
    'more ranges than a room type may have',
    '2 * looseRows > maxRowsInForce',
    '2 * looseRows > maxRowsInForce + 2',
    'availability',
  ],
  [
    'a listing of another host',
    'findOne<StoredListing>({ owner_id: ownerId, id }, options)',
    'findOne<StoredListing>({ id }, options)',
    'listings security',
  ],
  [
    'a search text that is not escaped',
    '$regex: escapePattern(comparableName(q))',
    '$regex: comparableName(q)',
    'listings',
  ],
  [
    'a reversed sort order',
    "sort === 'updated_at' ? 'desc' : 'asc'",
    "sort === 'updated_at' ? 'asc' : 'desc'",
    'listings',
  ],
  [
    'a duplicate window that never ends',
    'newest.text === sent.text && newest.created_at > windowStart',
    'newest.text === sent.text',
    'messages',
  ],
  [
    'a duplicate of a message that is not the last one',
    'sort: { version: -1 }, ...(session',
    'sort: { version: 1 }, ...(session',
    'stays/messages/messages.test.ts',
  ],
  [
    'an erasure that is earlier than the one before it',
    'return new Date(Math.max(now.getTime(), earliest))',
    'return new Date(Math.min(now.getTime(), Date.now() + earliest))',
    'users',
  ],
  [
    'a message to a closed conversation',
    "if (closed_at) throw new DomainError('conflict', 'The conversation is closed')",
    '',
    'messages',
  ],
  [
    'a host in conflict with its own provider key',
    'owner_id: { $ne: owner.owner_id }',
    'owner_id: { $gt: 0 }',
    'provider-keys',
  ],
  [
    'a consumer that moves back',
    '{ acknowledged: { $lt: to.acknowledged } }',
    '{ acknowledged: { $gt: to.acknowledged } }',
    'consumers',
  ],
  [
    'a path parameter logged as sent',
    "(parameterFormats[name] ?? isIdText)(value) ? value : '…'",
    'value',
    'requests',
  ],
  [
    'an expired key',
    "if (expires_at && expires_at <= now) return 'expired'",
    '',
    'keys http/every-route.test.ts',
  ],
  [
    'self-checks that count against the main rate limit',
    "const name = window === 'default' ? rateLimitName(id) : `${window}:${id}`",
    'const name = rateLimitName(id)',
    'keys requests',
  ],
  [
    'a checksum that always matches',
    'return key.endsWith(checksum(random))',
    'return key.endsWith(checksum(random)) || true',
    'keys',
  ],
  [
    'two hosts whose addresses differ only in case',
    'email_key: emailKey(input.email)',
    'email_key: input.email',
    'cli/admin.test.ts',
  ],
  [
    'two changes with the same version',
    '{ $inc: { ...counters, sequence } }',
    '{ $inc: { sequence } }',
    'host-clock bookings feed',
  ],
  ['a last page that is missed', 'found.length > perPage', 'found.length > perPage + 1', 'feed'],
  ['a wait on a later page', " && position.page.kind !== 'numbered'", '', 'feed'],
  ['a request with two positions', 'if (updated_after !== undefined)', 'if (false)', 'consumers'],
  [
    'a request with two different keys',
    "if (keys.size > 1 || hasOtherScheme) throw new DomainError('auth', 'API key is invalid')",
    '',
    'http/repeated-headers.test.ts',
  ],
  [
    'an Idempotency-Key of 255 characters that is refused',
    'key.length > idempotencyKeyLength',
    'key.length >= idempotencyKeyLength',
    'http',
  ],
  ['an expired response that is replayed', '!found || found.expires_at > now', '!found || found._id', 'http'],
  ['a missing last page', 'Math.ceil(total / perPage)', 'Math.floor(total / perPage)', 'listings feed'],
  ['a sandbox that never expires', ', ...(now ? { due_at: { $gt: now } } : {}) }', ' }', 'sandbox'],
  [
    'a fault that is injected once too often',
    '{ ...ofRule, [left]: { $gt: 0 } }',
    '{ ...ofRule }',
    'sandbox',
  ],
  [
    "messages that ignore the sandbox's clock",
    'const created_at = clock(owner_id)',
    'const created_at = clock()',
    'sandbox stays',
  ],
  [
    'a booking that is visibly pending before it is cancelled',
    "moveBooking(app, session, made, { to: 'cancelled' })",
    'Promise.resolve(made)',
    'sandbox',
  ],
  [
    'a dead webhook that stays enabled for too long',
    'failingMilliseconds = 5 * 86_400_000',
    'failingMilliseconds = 7 * 86_400_000',
    'webhooks',
  ],
  ['a sixth webhook', 'const webhooksPerHost = 5', 'const webhooksPerHost = 6', 'webhooks'],
  [
    'an address in a reserved network that is allowed',
    "return address.range() === 'unicast' && address.toString() !== azureMetadata",
    "return address.range() !== 'private' && address.toString() !== azureMetadata",
    'platform/outgoing/address.test.ts',
  ],
  [
    'a service that is not ready without Redis',
    "status: failing.length === 0 ? 'ready' : 'degraded'",
    "status: failing.length === 0 ? 'ready' : 'not ready'",
    'platform/rate-limiter.test.ts platform/redis',
  ],
  [
    'a limit that admits one hit too many',
    'const allowed = count < limit',
    'const allowed = count <= limit',
    'platform/rate-limiter.test.ts http/limits.test.ts',
  ],
  [
    'a NUL character in a text',
    "!value.isWellFormed() || value.includes('\\0')",
    '!value.isWellFormed()',
    'security users',
  ],
  [
    'invalid rates that are accepted',
    'if (problems.length > 0) throw invalidFields(problems.slice(0, maxProblems))',
    '',
    'listings/rates',
  ],
  [
    'the oldest action first',
    'other.at.getTime() - one.at.getTime()',
    'one.at.getTime() - other.at.getTime()',
    'bookings cli/lists.test.ts',
  ],
  [
    'inline styles allowed',
    '    `style-src ${styles}`,',
    "    `style-src ${styles} 'unsafe-inline'`,",
    'http/security-headers.test.ts',
  ],
  ['a limited request that is counted as refused', "if (status === 429) return 'limited'", '', 'requests'],
  [
    'an error without an example in the document',
    'errors.map(({ name, body }) => [name, { value: body }])',
    '[]',
    'docs/openapi.test.ts',
  ],
  [
    'a page without its content security policy',
    "{ ...headers, 'content-security-policy': policy }",
    'headers',
    'http/security-headers.test.ts',
  ],
  [
    'a list parameter with a single value',
    'if (lists.has(name)) return',
    'if (lists.has(name) && values.length > 1) return',
    'listings',
  ],
  [
    'a changed booking that is in a digest twice',
    'if (this.idAt(old) === id) old += 1',
    '',
    'changes/digest',
  ],
  [
    'a valid key that is rejected under concurrent requests',
    'if (current) return current',
    '',
    'access/keys',
  ],
  [
    'a poll that stops in the middle of a page and acknowledges nothing of it',
    'await changes.acknowledge(handledOnPage)',
    '',
    'cli/consumer.test.ts',
  ],
  [
    'a consumer that is moved back while a request waits for it',
    ' || position !== known',
    '',
    'changes/feed/wait.test.ts',
  ],
  [
    'a page past the end of a feed that begins again',
    '?? start\n',
    '?? null\n',
    'changes/feed/pages.test.ts',
  ],
  [
    'a poll that hands changes over after it has lost its state file',
    'checkpoint.require()\n        await handle(item)',
    'await handle(item)',
    'cli/claims.test.ts',
  ],
  ['a change that is not saved', 'checkpoint.save(item.version)\n', '', 'cli/poll.test.ts'],
  [
    'a feed that continues without moving forward',
    'requireForward(items, checkpoint)\n',
    '',
    'cli/bad-network.test.ts',
  ],
  [
    'users of all hosts in a list of users',
    'const filter = { owner_id: ownerId, ...matching }',
    'const filter = { ...matching }',
    'stays/users/read.test.ts',
  ],
  [
    'a guest in erasure who is found by e-mail',
    '{ email_key: emailKey(email), erasing_at: null }',
    '{ email_key: emailKey(email) }',
    'stays/users/read.test.ts',
  ],
  [
    'an unknown field that a strict request may send',
    'reading.isStrict ? ignored : []',
    'reading.isStrict ? [] : []',
    'http/ignored-fields.test.ts',
  ],
  [
    'an API key shown as the path of an unknown field',
    ' && !mayContainApiKey(path)',
    '',
    'http/ignored-fields.test.ts',
  ],
]

export const defects: Defect[] = rows.map(([what, right, wrong, tests]) => ({
  what,
  right,
  wrong,
  tests: tests.split(' ').map((path) => `/${path}`),
}))

const sources = await Promise.all(
  ['src', 'cli', 'client/src']
    .flatMap((folder) => [...new Glob(`${folder}/**/*.{ts,tsx}`).scanSync(root)])
    .map(async (file) => ({ file, source: await readFile(join(root, file), 'utf8') })),
)

/** Returns the files that contain a defect's correct line, with one entry for each occurrence. */
export function filesOf({ right }: Defect): string[] {
  return sources.flatMap(({ file, source }) => Array<string>(source.split(right).length - 1).fill(file))
}
