import { expect, test } from 'vitest'
import { userModel } from '../../../src/stays/users/model.ts'
import { formatName } from '../../../src/stays/users/serialize.ts'
import { seedBooking, testApp } from '../../support/app.ts'
import { readFixture } from '../../support/fixtures.ts'

const service = await testApp()
const actor = await service.actor()
const create = (body: unknown, headers = {}) => actor.send('POST', '/v1/users', { body, headers })

test('POST /v1/users responds 201 with every field of the contract', async () => {
  const sent = await readFixture('users/maria')
  const { status, body } = await create(sent)
  expect(status).toBe(201)
  const { user_id, created_at, updated_at, login_at, ...rest } = body.data
  expect(Number.isInteger(user_id)).toBe(true)
  expect(created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  expect({ updated_at, login_at }).toEqual({ updated_at: created_at, login_at: created_at })
  expect(rest).toEqual({
    name: 'María José García-López',
    email: 'maria.jose@example.com',
    first_name: 'María José',
    last_name: 'García-López',
    phone: '+34 611 222 333',
    date_of_birth: '1994-05-17',
    gender: 'female',
    country: 'Spain',
    city: 'Sevilla',
    timezone: 'Europe/Madrid',
    language: 'es',
    status: 1,
    role_name: 'user',
    lifecycle: 'subscriber',
    email_verified_at: null,
    login_amount: 1,
    login_ip: '127.0.0.1',
    source: 'api',
    api_created: true,
  })
})

test('POST /v1/users stores a password only as an argon2id hash', async () => {
  const { body } = await create({ ...(await readFixture('users/maria')), email: 'hash@example.com' })
  const stored = await userModel(service.live.db)
    .findOne({ owner_id: actor.hostId, id: body.data.user_id })
    .lean()
  expect(stored?.password_hash).toMatch(/^\$argon2id\$/)
  expect(await Bun.password.verify('correct horse battery', stored?.password_hash as string)).toBe(true)
  expect(JSON.stringify(stored)).not.toContain('correct horse')
})

test('POST /v1/users stores blank and missing optional fields as null and fills in the defaults', async () => {
  const { body } = await create({
    email: ' Blank@Example.com ',
    first_name: ' anna ',
    last_name: 'B',
    city: '  ',
    date_of_birth: '',
  })
  expect(body.data).toMatchObject({
    email: 'blank@example.com',
    first_name: 'Anna',
    city: null,
    date_of_birth: null,
    phone: null,
    timezone: 'UTC',
    language: 'en',
  })
})

test.each([
  ['email', undefined, 'required'],
  ['email', '  ', 'required'],
  ['email', null, 'required'],
  ['email', 'nobody', 'invalid'],
  ['email', { $gt: '' }, 'invalid'],
  ['email', 'a@1.2.3.4', 'invalid'],
  ['email', 'a@0x7f.1', 'invalid'],
  ['email', 'a@xn--a.example', 'invalid'],
  ['email', 'a@\u0301b.example', 'invalid'],
  ['email', 'a@b\u202ec.example', 'invalid'],
  ['email', 'a@b\u2100c.example', 'invalid'],
  ['email', 'a@b.example:80', 'invalid'],
  ['email', 'a@b%2ec.example', 'invalid'],
  ['email', 'a@b.example/c', 'invalid'],
  ['email', `${'a'.repeat(300)}@b.cc`, 'max'],
  ['first_name', '', 'required'],
  ['last_name', 7, 'invalid'],
  ['last_name', 'x'.repeat(256), 'max'],
  ['last_name', 'a\u0000b', 'invalid'],
  ['password', 'short', 'min'],
  ['password', 'x'.repeat(129), 'max'],
  ['date_of_birth', '2026-02-30', 'invalid'],
  ['date_of_birth', '2999-01-01', 'invalid'],
  ['date_of_birth', 19940517, 'invalid'],
  ['timezone', 'Mars/Olympus', 'invalid'],
  ['language', 'english please', 'invalid'],
  ['language', 'en-1', 'invalid'],
  ['language', 'en-GBR', 'invalid'],
  ['gender', 'g'.repeat(65), 'max'],
])('POST /v1/users with %s = %j responds 422 %s at that field only', async (field, value, code) => {
  const before = await userModel(service.live.db).countDocuments({ owner_id: actor.hostId })
  const { status, body, text } = await create({
    email: 'ok@example.com',
    first_name: 'A',
    last_name: 'B',
    [field]: value,
  })
  expect(status).toBe(422)
  expect(body.error.errors).toMatchObject([{ path: field, code }])
  expect(text).not.toContain('xxxxx')
  expect(await userModel(service.live.db).countDocuments({ owner_id: actor.hostId })).toBe(before)
})

test('POST /v1/users refuses an e-mail address already used at the same host, in any case, but not at another host', async () => {
  const sent = { email: 'Twice@example.com', first_name: 'A', last_name: 'B' }
  expect((await create(sent)).status).toBe(201)
  const again = await create({ ...sent, email: 'tWICE@example.com' })
  expect(again.status).toBe(422)
  expect(again.body.error.errors).toMatchObject([{ path: 'email', code: 'invalid' }])
  const stranger = await service.actor()
  expect((await stranger.send('POST', '/v1/users', { body: sent })).status).toBe(201)
})

test('twenty concurrent POSTs to /v1/users with one e-mail address create one user', async () => {
  const sent = { email: 'race@example.com', first_name: 'A', last_name: 'B' }
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => actor.send('POST', '/v1/users', { body: sent, repeatWhileBusy: true })),
  )
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(responses.filter(({ status }) => status === 422)).toHaveLength(19)
})

test('POST /v1/users ignores fields that a partner may not set', async () => {
  const { body } = await create({
    email: 'mass@example.com',
    first_name: 'A',
    last_name: 'B',
    host_id: 1,
    status: 9,
    role_name: 'admin',
    user_id: 1,
    api_created: false,
  })
  expect(body.data).toMatchObject({ status: 1, role_name: 'user', api_created: true })
  expect(body.data.user_id).not.toBe(1)
})

test.each([
  ['  maría   josé ', 'María José'],
  ['maría JOSÉ', 'maría JOSÉ'],
  ["O'BRIEN", "O'Brien"],
  ['garcía-lópez', 'García-López'],
  ['McDonald', 'McDonald'],
  ['山田', '山田'],
  ['ßeta', 'ßeta'],
  ['anna ßeta', 'Anna ßeta'],
  ['ﬁona o’ﬂynn', 'ﬁona O’ﬂynn'],
  ['ŉ dorfman', 'ŉ Dorfman'],
  ['ǰanko', 'ǰanko'],
  ['anna ǰanko-ẖuri', 'Anna ǰanko-ẖuri'],
  ['ǆemal ǉubić', 'ǅemal ǈubić'],
  ['გიორგი', 'გიორგი'],
  ['ᲒᲘᲝᲠᲒᲘ', 'გიორგი'],
  ['ΝΊΚΟΣ', 'Νίκος'],
])('formatName(%j) returns %j', (typed, formatted) => {
  expect(formatName(typed)).toBe(formatted)
})

test('formatName() gives each letter its title case, unless that has several code points', () => {
  const letters = Array.from({ length: 0x1_0000 }, (_, point) => String.fromCharCode(point)).filter(
    (letter) => /\p{Ll}/u.test(letter),
  )
  expect(letters.length).toBeGreaterThan(1000)
  for (const letter of letters) {
    const formatted = formatName(`${letter}a`)
    expect({ letter, codePoints: Array.from(formatted).length }).toEqual({ letter, codePoints: 2 })
  }
})

test('POST /v1/users stores the source and the key with the user', async () => {
  const { body } = await create({ email: 'meta@example.com', first_name: 'A', last_name: 'B' })
  const stored = await userModel(service.live.db).findOne({ id: body.data.user_id }).lean().orFail()
  expect(stored.meta).toEqual({ source: 'api', api_created: true, created_by_key: actor.keyId })
})

test.each(['', '   ', '         '])(
  'POST /v1/users with the blank password %j responds 422 min',
  async (password) => {
    const { status, body } = await create({
      email: 'p@example.com',
      first_name: 'A',
      last_name: 'B',
      password,
    })
    expect({ status, errors: body.error.errors }).toMatchObject({
      status: 422,
      errors: [{ path: 'password', code: 'min' }],
    })
  },
)

test('POST /v1/users reports a wrong e-mail address together with a date of birth in the future', async () => {
  const { body } = await create({
    email: { toString: 1 },
    first_name: 'A',
    last_name: 'B',
    date_of_birth: '2999-01-01',
  })
  expect(body.error.errors.map(({ path }: { path: string }) => path)).toEqual(['email', 'date_of_birth'])
})

test.each([
  ['es_mx', 'es-MX', 'europe/madrid', 'Europe/Madrid'],
  ['ZH-hant', 'zh-Hant', 'asia/calcutta', 'Asia/Calcutta'],
  ['DE-1996', 'de-1996', 'ASIA/KOLKATA', 'Asia/Kolkata'],
  ['eng', 'en', 'etc/gmt+5', 'Etc/GMT+5'],
  ['ES-419', 'es-419', 'utc', 'UTC'],
])(
  'POST /v1/users keeps the language %j as %j and the time zone %j as %j',
  async (language, keptLanguage, timezone, keptZone) => {
    const email = `${crypto.randomUUID()}@example.com`
    const { body } = await create({ email, first_name: 'A', last_name: 'B', language, timezone })
    const read = await actor.send('GET', `/v1/users/${body.data.user_id}`)
    for (const { data } of [body, read.body])
      expect({ language: data.language, timezone: data.timezone }).toEqual({
        language: keptLanguage,
        timezone: keptZone,
      })
  },
)

test.each([undefined, null, '', '  '])(
  'a guest whose last name is %j has one name, in every response',
  async (last_name) => {
    const partner = await service.actor()
    const { listing_id, room_type_id } = await seedBooking(partner)
    const person = { email: `${crypto.randomUUID()}@example.com`, first_name: ' SUHARTO ', last_name }
    const { status, body } = await partner.send('POST', '/v1/users', { body: person })
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { data: { name: 'Suharto', first_name: 'Suharto', last_name: '' } },
    })
    const { user_id } = body.data
    const read = await partner.send('GET', `/v1/users/${user_id}`)
    expect(read.body.data).toMatchObject({ name: 'Suharto', first_name: 'Suharto', last_name: '' })
    const stay = { checkin_at: '2031-05-01', checkout_at: '2031-06-01', message: 'Hello' }
    const booked = await partner.send('POST', '/v1/bookings', {
      body: { user_id, listing_id, room_type_id, ...stay },
    })
    const { booking_id } = booked.body.data
    const detail = await partner.send('GET', `/v1/integrations/provider_one/bookings/${booking_id}`)
    const messages = await partner.send('GET', `/v1/bookings/${booking_id}/messages`)
    expect({
      guest: detail.body.data.Booking.guest.name,
      sender: messages.body.data.messages[0].sender_name,
    }).toEqual({ guest: 'Suharto', sender: 'Suharto' })
  },
)
