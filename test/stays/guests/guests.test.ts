import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { bookingModel } from '../../../src/stays/bookings/model.ts'
import { guestsWithStaysEndedBefore } from '../../../src/stays/guests/ended-stays.ts'
import { eraseGuest, OpenStayError } from '../../../src/stays/guests/erase.ts'
import { messageModel } from '../../../src/stays/messages/model.ts'
import { type StoredUser, userModel } from '../../../src/stays/users/model.ts'
import { admin, adminJson } from '../../support/admin.ts'
import { testApp } from '../../support/app.ts'
import { findEverywhere, makeGuest } from '../../support/guests.ts'

const service = await testApp()
const { db } = service.live
const folder = await mkdtemp(join(tmpdir(), 'partner-guests-'))
afterAll(() => rm(folder, { recursive: true }))

const provider = '/v1/integrations/provider_one'

const versions = async (hostId: number) => ({
  bookings: await bookingModel(db)
    .find({ owner_id: hostId }, { _id: 0, id: 1, updated_at: 1, erased_at: 1 })
    .sort({ id: 1 })
    .lean(),
  messages: await messageModel(db)
    .find({ owner_id: hostId }, { _id: 0, id: 1, version: 1, erased_at: 1 })
    .sort({ id: 1 })
    .lean(),
})

test('a guest is exported with all stored data, none of which is left after their erasure', async () => {
  const actor = await service.actor()
  const guest = await makeGuest(actor)
  const { user_id, booking_id, path } = guest
  await actor.send('POST', `${path}/cancel`, guest.cancelled)
  const feedOf = async () => (await actor.send('GET', `${provider}/bookings`)).body.data.Bookings.at(-1)
  const detailOf = async () =>
    (await actor.send('GET', `${provider}/bookings/${booking_id}`)).body.data.Booking
  const before = { ...(await versions(actor.hostId)), detail: await detailOf(), feed: await feedOf() }
  expect(before.detail.erased_at).toBeNull()
  await service.logged()

  const document = await admin('guests', 'export', '--user', String(user_id))
  const exported = JSON.parse(document.stdout)
  // Keys and passwords are stored only as hashes.
  const stored = guest.made.filter((text) => !/^Canary(KeyOf|Password)/.test(text))
  for (const text of stored)
    expect({ text, isExported: document.stdout.includes(text) }).toEqual({ text, isExported: true })
  expect(Object.keys(exported)).toEqual(['user', 'bookings', 'conversations', 'stored_responses', 'audit'])
  expect(exported.stored_responses).toHaveLength(4)
  expect(document.stdout).not.toContain('password_hash')
  expect(
    await findEverywhere(
      service,
      guest.made.filter((text) => /^Canary(KeyOf|Password)/.test(text)),
    ),
  ).toEqual([])

  const file = join(folder, 'receipts.ndjson')
  const [receipt] = await adminJson('guests', 'erase', '--user', String(user_id), '--yes', '--receipts', file)
  expect(receipt).toMatchObject({ user_id, host_id: actor.hostId })
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(receipt)
  expect(await findEverywhere(service, [...guest.made, '+34612345678', '1990-05-17'])).toEqual([])

  const after = await versions(actor.hostId)
  const newest = (rows: { updated_at?: Date; version?: Date }[]) =>
    Math.max(...rows.map((row) => (row.updated_at ?? row.version ?? new Date(0)).getTime()))
  for (const { updated_at, erased_at } of after.bookings) {
    expect(updated_at.getTime()).toBeGreaterThan(newest(before.bookings))
    expect(erased_at).toBeInstanceOf(Date)
  }
  for (const { version } of after.messages) expect(version.getTime()).toBeGreaterThan(newest(before.messages))
  expect(after.messages).toHaveLength(before.messages.length)
  const feed = await feedOf()
  expect(feed).toEqual({ ...before.feed, version: feed.version })
  const detail = await detailOf()
  expect(detail).toMatchObject({
    status: 'cancelled',
    notes: null,
    cancellation_reason: null,
    pricing: before.detail.pricing,
    guest: { name: 'Erased guest', email: `erased-${user_id}@erased.invalid`, phone: null, country: null },
  })
  expect(detail.erased_at).not.toBeNull()
  const messages = (await actor.send('GET', `${provider}/messages?booking_id=${booking_id}`)).body.data
    .messages
  expect(messages.map((one: object) => ({ ...one }))).toMatchObject([
    { sender: 'guest', sender_name: 'Erased guest', text: '[erased]' },
    { sender: 'host', sender_name: 'Test host', text: '[erased]' },
    { sender: 'guest', sender_name: 'Erased guest', text: '[erased]' },
  ])
  for (const { erased_at } of messages) expect(erased_at).not.toBeNull()

  // Retries replay the erased form of the response and create no user.
  const replays = [
    await actor.send('POST', '/v1/users', guest.created),
    await actor.send('POST', '/v1/bookings', guest.booked),
    await actor.send('POST', `${path}/confirm`, guest.confirmed),
    await actor.send('POST', `${path}/cancel`, guest.cancelled),
  ]
  for (const { headers, text } of replays) {
    expect(headers.get('idempotent-replayed')).toBe('true')
    for (const one of guest.made) expect(text).not.toContain(one)
  }
  expect(replays.map(({ status }) => status)).toEqual([201, 201, 200, 200])
  for (const { body } of replays.slice(2)) expect(body.data.Booking.erased_at).toBe(detail.erased_at)
  expect(replays[0]?.body.data).toMatchObject({
    user_id,
    name: 'Erased guest',
    phone: null,
    login_ip: '0.0.0.0',
  })

  // Nothing more is stored about the guest.
  const again = await actor.send('POST', '/v1/bookings', { body: guest.booked.body })
  expect({ status: again.status, problem: again.body.error.errors[0] }).toMatchObject({
    status: 422,
    problem: { path: 'user_id', code: 'invalid' },
  })
  expect((await actor.send('POST', `${path}/messages`, { body: { message: { text: 'x' } } })).status).toBe(
    409,
  )
  expect((await admin('conversations', 'reopen', String(booking_id))).code).toBe(1)
  const reused = await actor.send('POST', '/v1/users', { body: guest.created.body })
  expect(reused.status).toBe(201)

  const repeated = await admin('guests', 'erase', '--from-receipts', file, '--yes')
  expect(repeated.code).toBe(0)
  expect(await versions(actor.hostId)).toEqual(after)
  const entries = await adminJson('audit', 'list', '--limit', '1000')
  const own = entries.filter(({ target }: { target: string }) => target === `user ${user_id}`)
  expect(own.map(({ action }: { action: string }) => action)).toEqual(['guests erase', 'guests export'])
})

test("erasing a guest with an open stay requires --with-open-stays, and never touches another host's guest", async () => {
  const actor = await service.actor()
  const other = await service.actor()
  const guest = await makeGuest(actor)
  const same = { email: guest.email, first_name: 'Ada', last_name: 'Lovelace' }
  const twin = (await other.send('POST', '/v1/users', { body: same })).body.data.user_id
  const untouched = await userModel(db).findOne({ id: twin }).lean()
  const found = await adminJson('guests', 'find', '--email', guest.email.toUpperCase())
  expect(found.map(({ user_id }: { user_id: number }) => user_id).sort()).toEqual(
    [guest.user_id, twin].sort(),
  )
  const erase = (...more: string[]) => admin('guests', 'erase', '--user', String(guest.user_id), ...more)
  expect((await erase('--yes')).code).toBe(1)
  expect((await erase('--with-open-stays')).code).toBe(2)
  for (const unwritable of [join(folder, 'no', 'where'), '/dev/full']) {
    const refused = await erase('--with-open-stays', '--yes', '--receipts', unwritable)
    expect({ code: refused.code, stderr: refused.stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(`^Cannot write "${unwritable}" \\([a-z ]+\\): nothing was erased\n$`),
    })
  }
  expect((await userModel(db).findOne({ id: guest.user_id }).lean())?.erasing_at).toBeNull()
  expect((await erase('--with-open-stays', '--yes')).code).toBe(0)
  // A reason sent after the erasure is not stored.
  await actor.send('POST', `${guest.path}/cancel`, { body: { reason: 'CanaryLate' } })
  const closed = await admin('conversations', 'close', String(guest.booking_id), '--reason', 'CanaryLate')
  expect(closed.code).toBe(0)
  expect(await findEverywhere(service, [...guest.made.slice(1), 'CanaryLate'])).toEqual([])
  expect(await userModel(db).findOne({ id: twin }).lean()).toEqual(untouched)
  const domain = await actor.send('POST', '/v1/users', { body: { ...same, email: 'a@Erased.Invalid' } })
  expect({ status: domain.status, problem: domain.body.error.errors[0] }).toMatchObject({
    status: 422,
    problem: { path: 'email', code: 'invalid' },
  })
})

test('a guest who books after they were selected for erasure is not erased', async () => {
  const actor = await service.actor()
  const past = { checkin_at: '2020-01-01', checkout_at: '2020-02-01' }
  const guest = await makeGuest(actor, past)
  const chosen = await Array.fromAsync(guestsWithStaysEndedBefore(db, actor.hostId, '2020-03-01', new Date()))
  expect(chosen.map(({ id }) => id)).toEqual([guest.user_id])
  const stay = { checkin_at: '2031-05-01', checkout_at: '2031-06-01' }
  const booked = { body: { user_id: guest.user_id, ...guest.place, ...stay } }
  expect((await actor.send('POST', '/v1/bookings', booked)).status).toBe(201)
  let hasBegun = false
  const context = {
    ...service.live,
    onBegun() {
      hasBegun = true
    },
  }
  await expect(eraseGuest(context, chosen[0] as StoredUser)).rejects.toThrow(OpenStayError)
  expect(await userModel(db).findOne({ id: guest.user_id }).lean()).toMatchObject({
    email: guest.email,
    erasing_at: null,
    erased_at: null,
  })
  // No receipt was written, because a restore would repeat the erasure from it.
  expect(hasBegun).toBe(false)
})

test('partnerctl guests find finds a guest of every host, however the address is spelled, and refuses what is no address', async () => {
  const name = crypto.randomUUID()
  const spellings = [
    `${name}-josé@bücher.example`,
    `${name}-JOSE\u0301@bu\u0308cher.example`,
    `${name}-José@XN--BCHER-KVA.example`,
  ]
  const ids: number[] = []
  for (const email of spellings) {
    const actor = await service.actor()
    const created = await actor.send('POST', '/v1/users', {
      body: { email, first_name: 'A', last_name: 'B' },
    })
    ids.push(created.body.data.user_id)
  }
  for (const email of spellings) {
    const found = await adminJson('guests', 'find', '--email', email)
    const foundIds = found.map(({ user_id }: { user_id: number }) => user_id)
    expect({ email, ids: foundIds }).toEqual({ email, ids })
  }
  for (const text of [name, `${name}@bücher`, `${name}@bücher.example,x`]) {
    const refused = await admin('guests', 'find', '--email', text)
    expect({ text, code: refused.code }).toEqual({ text, code: 2 })
  }
})

test('nobody takes an address of an erased guest, however its domain is spelled', async () => {
  const actor = await service.actor()
  for (const domain of ['erased.invalid', 'ERASED.Invalid', 'ｅrased.invalid', 'erased。invalid']) {
    const body = { email: `erased-1@${domain}`, first_name: 'A', last_name: 'B' }
    const refused = await actor.send('POST', '/v1/users', { body })
    expect({ domain, status: refused.status, errors: refused.body.error?.errors }).toMatchObject({
      domain,
      status: 422,
      errors: [{ path: 'email', code: 'invalid' }],
    })
  }
})

test('one erasure has one time, also when it is repeated and when a restore undid it', async () => {
  const actor = await service.actor()
  const guest = await makeGuest(actor)
  const { user_id, booking_id, path } = guest
  await actor.send('POST', `${path}/cancel`, guest.cancelled)
  const stored = async () => ({
    user: await userModel(db).findOne({ id: user_id }).lean().orFail(),
    booking: await bookingModel(db).findOne({ id: booking_id }).lean().orFail(),
    messages: await messageModel(db).find({ booking_id }).lean(),
  })
  const backup = await stored()
  const timesShown = async () => {
    const user = await actor.send('GET', `/v1/users/${user_id}`)
    const booking = await actor.send('GET', `${provider}/bookings/${booking_id}`)
    const messages = await actor.send('GET', `${provider}/messages?booking_id=${booking_id}`)
    const replay = await actor.send('POST', `${path}/cancel`, guest.cancelled)
    return [
      user.body.data.erased_at,
      booking.body.data.Booking.erased_at,
      ...messages.body.data.messages.map(({ erased_at }: { erased_at: string }) => erased_at),
      replay.body.data.Booking.erased_at,
    ]
  }
  const file = join(folder, 'one-time.ndjson')
  const erase = (...which: string[]) => adminJson('guests', 'erase', ...which, '--yes')
  const byUser = ['--user', String(user_id)]
  const [receipt] = await erase(...byUser, '--receipts', file)
  expect({ first: await timesShown() }).toEqual({ first: Array(6).fill(receipt.at) })
  expect({ repeated: await erase(...byUser) }).toEqual({ repeated: [receipt] })

  const timeless = join(folder, 'timeless.ndjson')
  await writeFile(timeless, JSON.stringify({ ...receipt, at: 'never' }))
  const refused = await admin('guests', 'erase', '--from-receipts', timeless, '--yes')
  expect({ code: refused.code, stderr: refused.stderr }).toEqual({
    code: 1,
    stderr: `Line 1 of "${timeless}" is not a receipt: nothing was erased\n`,
  })

  await userModel(db).replaceOne({ id: user_id }, backup.user)
  await bookingModel(db).replaceOne({ id: booking_id }, backup.booking)
  for (const message of backup.messages) await messageModel(db).replaceOne({ id: message.id }, message)
  expect((await timesShown()).slice(0, 5)).toEqual(Array(5).fill(null))
  expect({ restored: await erase('--from-receipts', file) }).toEqual({ restored: [receipt] })
  expect({ restored: await timesShown() }).toEqual({ restored: Array(6).fill(receipt.at) })
})

test('two commands that erase one guest at the same moment make one erasure with one time', async () => {
  const actor = await service.actor()
  const { user_id } = await makeGuest(actor, { checkin_at: '2020-01-01', checkout_at: '2020-02-01' })
  const user = await userModel(db).findOne({ id: user_id }).lean().orFail()
  const times: Date[] = []
  const context = { ...service.live, onBegun: (at: Date) => void times.push(at) }
  await Promise.all([eraseGuest(context, user), eraseGuest(context, user)])
  const { erased_at } = await userModel(db).findOne({ id: user_id }).lean().orFail()
  expect({ times }).toEqual({ times: [erased_at, erased_at] })
})

test('only a replay that had erased_at shows it after an erasure', async () => {
  const actor = await service.actor()
  const guest = await makeGuest(actor)
  const { user_id, path } = guest
  await actor.send('POST', `${path}/cancel`, guest.cancelled)
  const requests = [
    ['/v1/users', guest.created],
    ['/v1/bookings', guest.booked],
    [`${path}/confirm`, guest.confirmed],
    [`${path}/cancel`, guest.cancelled],
  ] as const
  const fieldsOfReplays = async () =>
    Promise.all(
      requests.map(async ([to, sending]) => {
        const { data } = (await actor.send('POST', to, sending)).body
        return Object.keys(data.Booking ?? data)
      }),
    )
  const before = await fieldsOfReplays()
  const [receipt] = await adminJson('guests', 'erase', '--user', String(user_id), '--yes')
  expect(await fieldsOfReplays()).toEqual(before)
  expect(before.map((fields) => fields.includes('erased_at'))).toEqual([false, false, true, true])
  expect(receipt.user_id).toBe(user_id)
})
