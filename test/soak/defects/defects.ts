// biome-ignore-all lint/suspicious/noTemplateCurlyInString: lines of the sources, as they stand there
/** A line that a tired engineer could write, and the tests that must notice it. */
export interface Defect {
  what: string
  file: string
  /** Occurs exactly once in the file. */
  right: string
  wrong: string
  /** Ends of the paths of folders or files in `test/`. */
  tests: string[]
}

/** One entry: what, file, right, wrong, tests. */
type Row = [what: string, file: string, right: string, wrong: string, tests: string]

const rows: Row[] = [
  [
    'a booking for a guest who was erased',
    'stays/bookings/create.ts',
    '      await requireNotErased(db, session, hostId, parts.guest.id)\n',
    '',
    'stays/guests/guests.test.ts',
  ],
  [
    'an Idempotency-Key stored as it was sent',
    'http/idempotency/idempotency.ts',
    "createHmac('sha256', app.claimSecret).update(idempotencyKey).digest('base64url')",
    'idempotencyKey',
    'http/idempotency.test.ts',
  ],
  [
    'a certification of another key',
    'certification/store.ts',
    '{ _id: id, key_id: keyId }',
    '{ _id: id }',
    'certification/certification.test.ts',
  ],
  [
    'a fault of a certification in the request log',
    'http/request-entry.ts',
    'isFaultSecret ? null : (outcome.fault ?? null)',
    'outcome.fault ?? null',
    'certification/certification.test.ts',
  ],
  [
    'an user of any host',
    'stays/users/store.ts',
    'findOne<StoredUser>({ host_id: hostId, id })',
    'findOne<StoredUser>({ id })',
    'bookings security/access.test.ts',
  ],
  [
    'an address taken by another host',
    'stays/users/store.ts',
    '{ host_id: hostId, email_key: indexKey(email) }',
    '{ email_key: indexKey(email) }',
    'users',
  ],
  [
    'a permission of reading for writing',
    'stays/users/routes.ts',
    "permission: 'users.write'",
    "permission: 'users.read'",
    'http/every-route.test.ts',
  ],
  [
    'a permission dropped',
    'stays/messages/routes.ts',
    "permission: 'bookings.write'",
    "permission: 'any'",
    'http/every-route.test.ts',
  ],
  [
    'a booking of any host',
    'stays/bookings/store.ts',
    'findOne({ host_id: hostId, id }).session',
    'findOne({ id }).session',
    'http/every-route.test.ts',
  ],
  ['one booking too many', 'stays/bookings/units.ts', 'left <= 0', 'left < 0', 'availability bookings'],
  [
    'units counted that were already in the push',
    'stays/bookings/units.ts',
    'if (created_sequence > writtenAt) night.booked += 1',
    'night.booked += 1',
    'availability bookings',
  ],
  [
    'no look at the units',
    'stays/bookings/create.ts',
    'await requireUnit(db, session, draft)',
    'void requireUnit',
    'availability bookings',
  ],
  [
    'a discount a night too late',
    'stays/bookings/pricing.ts',
    'nights >= length',
    'nights > length',
    'bookings',
  ],
  [
    'a move without its audit entry',
    'stays/bookings/partner-transition.ts',
    '...(isSandbox ? {} : { also: record })',
    '...(isSandbox ? { also: record } : {})',
    'bookings',
  ],
  [
    'a range that ends where the next begins',
    'inventory/availability/overlay.ts',
    '({ end_date }) => end_date < row.start_date',
    '({ end_date }) => end_date <= row.start_date',
    'availability',
  ],
  [
    'a night too many',
    'stays/nights/query-problems.ts',
    'daysBetween(start, end) < maxNights',
    'daysBetween(start, end) <= maxNights',
    'nights',
  ],
  [
    'more ranges than a room type has room for',
    'inventory/availability/capacity.ts',
    '2 * looseRows > maxRowsInForce',
    '2 * looseRows > maxRowsInForce + 2',
    'availability',
  ],
  [
    'a listing matched over hosts',
    'inventory/listings/store.ts',
    '.find({ host_id: hostId, $or: alternatives })',
    '.find({ $or: alternatives })',
    'listings security',
  ],
  [
    'a booking of any listing',
    'inventory/listings/store.ts',
    'findOne<BookableListing>({ host_id: hostId, id }, options)',
    'findOne<BookableListing>({ id }, options)',
    'bookings security/access.test.ts',
  ],
  [
    'an escape forgotten',
    'inventory/listings/list-store.ts',
    '$regex: escapePattern(q.toLowerCase())',
    '$regex: q.toLowerCase()',
    'listings',
  ],
  [
    'an order turned around',
    'inventory/listings/list-store.ts',
    "sort === 'updated_at' ? 'desc' : 'asc'",
    "sort === 'updated_at' ? 'asc' : 'desc'",
    'listings',
  ],
  [
    'a duplicate window without end',
    'stays/messages/store.ts',
    'created_at: { $gt: after }',
    'created_at: { $gt: new Date(0) }',
    'messages',
  ],
  [
    'a message to a closed conversation',
    'stays/messages/conversation.ts',
    "if (closed_at) throw new DomainError('conflict', 'The conversation is closed')",
    '',
    'messages',
  ],
  [
    'a provider key that its own host has',
    'access/provider-keys/store.ts',
    'host_id: { $ne: owner.host_id }',
    'host_id: { $gt: 0 }',
    'provider-keys',
  ],
  [
    'a consumer that goes back',
    'changes/consumers/store.ts',
    '{ acknowledged: { $lt: to.acknowledged } }',
    '{ acknowledged: { $gt: to.acknowledged } }',
    'consumers',
  ],
  [
    'a path parameter logged as sent',
    'http/logged-path.ts',
    "(forms[name] ?? isIdText)(value) ? value : '…'",
    'value',
    'requests',
  ],
  [
    'an expired key',
    'access/keys/status.ts',
    "if (expires_at && expires_at <= now) return 'expired'",
    '',
    'keys http/every-route.test.ts',
  ],
  [
    'looking at the key counts',
    'access/keys/authorizer.ts',
    "const name = window === 'default' ? rateLimitName(id) : `${window}:${id}`",
    'const name = rateLimitName(id)',
    'keys requests',
  ],
  [
    'a checksum that always fits',
    'access/keys/secret.ts',
    'return key.endsWith(checksum(random))',
    'return key.endsWith(checksum(random)) || true',
    'keys',
  ],
  [
    'two addresses by their case',
    'access/hosts/store.ts',
    'email: input.email.trim().toLowerCase()',
    'email: input.email.trim()',
    'cli/admin.test.ts',
  ],
  [
    'two changes in one second',
    'versions/host-clock-store.ts',
    '$inc: { ...fill(ahead, 1), ...(sequence',
    '$inc: { ...fill(ahead, 0), ...(sequence',
    'bookings feed',
  ],
  [
    'a last page that is not',
    'changes/feed/page.ts',
    'found.length > page.perPage',
    'found.length > page.perPage + 1',
    'feed',
  ],
  ['a wait on a later page', 'changes/feed/wait.ts', 'page.page > 1 ||', '', 'feed'],
  [
    'two positions at once',
    'changes/feed/position.ts',
    'if (updated_after !== undefined)',
    'if (false)',
    'consumers',
  ],
  [
    'two different keys',
    'http/authorization.ts',
    "if (plain && bearer && plain !== bearer) throw new DomainError('auth', 'API key is invalid')",
    '',
    'http/every-route.test.ts',
  ],
  [
    'a key of 255 characters',
    'http/idempotency/key.ts',
    'key.length > idempotencyKeyLength',
    'key.length >= idempotencyKeyLength',
    'http',
  ],
  [
    'a response kept for ever',
    'http/idempotency/store.ts',
    'found && found.expires_at > now ? found : null',
    'found',
    'http',
  ],
  [
    'a page forgotten',
    'http/pagination.ts',
    'Math.ceil(total / perPage)',
    'Math.floor(total / perPage)',
    'listings feed',
  ],
  [
    'a sandbox for ever',
    'sandbox/life-store.ts',
    ', ...(now ? { due_at: { $gt: now } } : {}) }',
    ' }',
    'sandbox',
  ],
  [
    'a fault once more than asked for',
    'sandbox/rules-store.ts',
    'rules_id, [left]: { $gt: 0 } }',
    'rules_id }',
    'sandbox',
  ],
  [
    'a clock of which messages know nothing',
    'stays/messages/conversation.ts',
    'const created_at = clock(host_id)',
    'const created_at = clock()',
    'sandbox stays',
  ],
  [
    'a cancellation that everybody sees pending first',
    'sandbox/scenarios/scenarios.ts',
    "return prepareTransition(app, made, { to: 'cancelled' }).run(session)",
    'return made',
    'sandbox',
  ],
  [
    'a dead endpoint that stays on',
    'changes/webhooks/schedule.ts',
    'failingMilliseconds = 5 * 86_400_000',
    'failingMilliseconds = 7 * 86_400_000',
    'webhooks',
  ],
  [
    'a sixth endpoint',
    'changes/webhooks/write.ts',
    'const webhooksPerHost = 5',
    'const webhooksPerHost = 6',
    'webhooks',
  ],
  [
    'a private network open',
    'changes/webhooks/address.ts',
    "if (parsed.kind() === 'ipv4') return parsed.range() === 'unicast'",
    "if (parsed.kind() === 'ipv4') return parsed.range() !== 'private'",
    'webhooks/address.test.ts',
  ],
  [
    'not ready without Redis',
    'process/health.ts',
    "(failing.length === 0 ? 'ready' : 'degraded')",
    "(failing.length === 0 ? 'ready' : 'not ready')",
    'platform/rate-limiter.test.ts platform/redis',
  ],
  [
    'one hit too many',
    'platform/rate-limiter.ts',
    'const allowed = count < limit',
    'const allowed = count <= limit',
    'platform/rate-limiter.test.ts http/limits.test.ts',
  ],
  [
    'a NUL in a text',
    'http/schema/text.ts',
    "!value.isWellFormed() || value.includes('\\0')",
    '!value.isWellFormed()',
    'security users',
  ],
  [
    'rates in another currency',
    'inventory/listings/rates/write.ts',
    'if (problems.length > 0) throw invalidFields(problems.slice(0, maxProblems))',
    '',
    'listings/rates',
  ],
  [
    'the oldest action first',
    'access/audit/store.ts',
    'other.at.getTime() - one.at.getTime()',
    'one.at.getTime() - other.at.getTime()',
    'bookings cli/lists.test.ts',
  ],
  [
    'inline styles allowed',
    'http/security-headers.ts',
    '    `style-src ${styles}`,',
    "    `style-src ${styles} 'unsafe-inline'`,",
    'http/security-headers.test.ts',
  ],
  [
    'a limit counted as refused',
    'access/requests/kinds.ts',
    "if (status === 429) return 'limited'",
    '',
    'requests',
  ],
  [
    'an error that the document leaves out',
    'pages/docs/responses.ts',
    'exampleError(kind, permission).body',
    '{}',
    'docs/openapi.test.ts',
  ],
  [
    'a page without its policy',
    'pages/console/routes.ts',
    "{ ...headers, 'content-security-policy': strictPagePolicy }",
    'headers',
    'http/security-headers.test.ts',
  ],
  ['a list of one', 'http/query.ts', 'lists.has(key) || others.length > 0', 'others.length > 0', 'listings'],
  [
    'a changed booking twice in a digest',
    'changes/digest/held.ts',
    'held.bookings.filter(({ booking_id }) => !newer.has(booking_id))',
    'held.bookings',
    'changes/digest',
  ],
  [
    'a valid key that is called wrong when many requests come at once',
    'access/keys/authorizer.ts',
    'if (current) return current',
    '',
    'access/keys',
  ],
]

const commands: Row[] = [
  ['a change that is not saved', 'poll/poller.ts', 'checkpoint.save(item.version)\n', '', 'cli/poll.test.ts'],
]

const ofClient: Row[] = [
  [
    'a feed that goes on although it does not move forward',
    'src/feed.ts',
    'requireForward(items, checkpoint)\n',
    '',
    'cli/bad-network.test.ts',
  ],
]

const toDefect =
  (root: string) =>
  ([what, file, right, wrong, tests]: Row): Defect => ({
    what,
    file: `${root}/${file}`,
    right,
    wrong,
    tests: tests.split(' ').map((path) => `/${path}`),
  })

export const defects: Defect[] = [
  ...rows.map(toDefect('src')),
  ...commands.map(toDefect('cli')),
  ...ofClient.map(toDefect('client')),
]
