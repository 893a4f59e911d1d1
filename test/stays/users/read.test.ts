import { expect, test } from 'vitest'
import { inTransaction } from '../../../src/platform/mongo/turns/transactions.ts'
import { eraseGuest } from '../../../src/stays/guests/erase.ts'
import { userModel } from '../../../src/stays/users/model.ts'
import { markErasing, overwriteUser } from '../../../src/stays/users/store.ts'
import { type Actor, testApp } from '../../support/app.ts'

const service = await testApp()
const { db } = service.live

async function createUser(actor: Actor, email = `${crypto.randomUUID()}@example.com`, prefix = '/v1') {
  const body = { email, first_name: 'Ada', last_name: 'Lovelace' }
  return (await actor.send('POST', `${prefix}/users`, { body })).body.data
}

test.each(['/v1', '/sandbox'])(
  'GET %s/users/{id} returns what create returned, and erased_at',
  async (prefix) => {
    const actor = await service.actor()
    const created = await createUser(actor, 'ada@example.com', prefix)
    const { status, body } = await actor.send('GET', `${prefix}/users/${created.user_id}`)
    expect(status).toBe(200)
    expect(body.data).toEqual({ ...created, erased_at: null })
  },
)

test("GET /v1/users pages through the host's own users by id", async () => {
  const actor = await service.actor()
  const stranger = await service.actor()
  const ids: number[] = []
  for (let count = 0; count < 3; count += 1) {
    ids.push((await createUser(actor)).user_id)
    await createUser(stranger)
  }
  const shown = async (query: string) => {
    const { body } = await actor.send('GET', `/v1/users${query}`)
    const { total, last_page } = body.meta.pagination
    return { ids: body.data.map(({ user_id }: { user_id: number }) => user_id), total, last_page }
  }
  expect(await shown('')).toEqual({ ids, total: 3, last_page: 1 })
  expect(await shown('?per_page=2')).toEqual({ ids: ids.slice(0, 2), total: 3, last_page: 2 })
  expect(await shown('?per_page=2&page=2')).toEqual({ ids: ids.slice(2), total: 3, last_page: 2 })
  expect(await shown('?page=9007199254740991')).toMatchObject({ ids: [], total: 3 })
  expect((await actor.send('GET', '/v1/users?per_page=101')).body.error.errors).toMatchObject([
    { path: 'per_page', code: 'max' },
  ])
})

test('GET /v1/users?email= finds a user whatever the case', async () => {
  const actor = await service.actor()
  const stranger = await service.actor()
  const { user_id } = await createUser(actor, 'Ada+stay@Example.com')
  await createUser(actor)
  const find = async (email: string, by = actor) => {
    const { status, body } = await by.send('GET', `/v1/users?email=${encodeURIComponent(email)}`)
    expect(status).toBe(200)
    return body.data.map((user: { user_id: number }) => user.user_id)
  }
  for (const email of ['ada+stay@example.com', 'ADA+STAY@EXAMPLE.COM'])
    expect(await find(email)).toEqual([user_id])
  for (const email of ['da+stay@example.com', '.*@', '%@%', `${'a'.repeat(243)}@example.com`])
    expect(await find(email)).toEqual([])
  expect(await find('ada+stay@example.com', stranger)).toEqual([])
})

test.each([
  ['email=', 'invalid'],
  ['email=%20%09', 'invalid'],
  [`email=${'a'.repeat(256)}`, 'max'],
  ['email=a@example.com&email=a@example.com', 'invalid'],
  ['email[]=a@example.com', 'invalid'],
  ['email[0]=a@example.com', 'invalid'],
  ['email%5B$ne%5D=', 'invalid'],
  ['email[=a', 'invalid'],
  ['email=%00', 'invalid'],
  ['email=ada', 'invalid'],
  ['email=.*', 'invalid'],
])('GET /v1/users?%s responds 422 at "email" instead of listing everybody', async (query, code) => {
  const actor = await service.actor()
  const { status, body } = await actor.send('GET', `/v1/users?${query}`)
  expect({ status, errors: body.error.errors }).toMatchObject({
    status: 422,
    errors: [{ path: 'email', code }],
  })
  expect(body.error.errors).toHaveLength(1)
  if (query === 'email=') expect(body.error.errors[0].message).toBe('"email" must be non-blank text')
})

test.each([
  ['ada+stay@example.com'],
  ['%20ada@example.com'],
  ['ada@example.com%09'],
  ['ada%C2%A0lovelace@example.com'],
  ['ada+stay'],
])('GET /v1/users?email=%s says how to write a "+"', async (email) => {
  const actor = await service.actor()
  const { status, body } = await actor.send('GET', `/v1/users?email=${email}`)
  expect({ status, errors: body.error.errors }).toEqual({
    status: 422,
    errors: [
      {
        path: 'email',
        code: 'invalid',
        message: '"email" must be an e-mail address without spaces; write "+" as "%2B"',
      },
    ],
  })
})

test('nobody is found by e-mail from the first step of an erasure on, and lists leave out erased users', async () => {
  const actor = await service.actor()
  const guest = await createUser(actor, 'guest@example.com')
  const other = await createUser(actor)
  const listed = async (query = '') => {
    const { data, meta } = (await actor.send('GET', `/v1/users${query}`)).body
    return [data.map(({ user_id }: { user_id: number }) => user_id), meta.pagination.total]
  }
  const user = { owner_id: actor.hostId, id: guest.user_id }
  const now = new Date()
  expect(await listed('?email=guest@example.com')).toEqual([[guest.user_id], 1])
  await inTransaction(db, 'test', (session) => markErasing(db, session, user, { at: now, now }))
  expect(await listed('?email=guest@example.com')).toEqual([[], 0])
  await overwriteUser(db, user, { at: now, now })
  expect(await listed()).toEqual([[other.user_id], 1])
  expect(await listed(`?email=erased-${guest.user_id}@erased.invalid`)).toEqual([[], 0])
  const { data } = (await actor.send('GET', `/v1/users/${guest.user_id}`)).body
  expect(data).toMatchObject({ name: 'Erased guest', email: `erased-${guest.user_id}@erased.invalid` })
  expect(Date.parse(data.erased_at)).toBe(now.getTime())
})

/** Returns what a host's list of erased users shows: the ids in order, their times, and the total. */
async function erasedOf(actor: Actor, query: Record<string, string>, prefix = '/v1') {
  const { status, body } = await actor.send('GET', `${prefix}/users?${new URLSearchParams(query)}`)
  expect(status).toBe(200)
  return {
    ids: body.data.map(({ user_id }: { user_id: number }) => user_id),
    times: body.data.map(({ erased_at }: { erased_at: string }) => erased_at),
    total: body.meta.pagination.total,
    users: body.data,
  }
}

const always = '1970-01-01T00:00:00.000000Z'

test('a guest is among those erased after a time from the first step of the erasure on, in the erased form', async () => {
  const actor = await service.actor()
  const stranger = await service.actor()
  const guest = await createUser(actor, 'guest@example.com')
  await createUser(actor)
  expect(await erasedOf(actor, { erased_after: always })).toMatchObject({ ids: [], total: 0 })
  const user = { owner_id: actor.hostId, id: guest.user_id }
  const at = await inTransaction(db, 'test', (session) =>
    markErasing(db, session, user, { at: undefined, now: new Date() }),
  )
  const begun = await erasedOf(actor, { erased_after: always })
  expect(begun).toMatchObject({ ids: [guest.user_id], total: 1 })
  expect(begun.users[0]).toMatchObject({
    name: 'Erased guest',
    first_name: 'Erased',
    email: `erased-${guest.user_id}@erased.invalid`,
    login_ip: '0.0.0.0',
  })
  expect(Date.parse(begun.users[0].erased_at)).toBe(at.getTime())
  expect(JSON.stringify(begun)).not.toContain('guest@example.com')
  await overwriteUser(db, user, { at, now: new Date() })
  const { updated_at: _, ...done } = (await erasedOf(actor, { erased_after: always })).users[0]
  expect(begun.users[0]).toMatchObject(done)
  expect(await erasedOf(actor, { erased_after: begun.users[0].erased_at })).toMatchObject({ ids: [] })
  expect(await erasedOf(stranger, { erased_after: always })).toMatchObject({ ids: [], total: 0 })
})

test('erased users are paged by the time of their erasure, and found by the address that they have now alone', async () => {
  const actor = await service.actor()
  const ids: number[] = []
  for (let count = 0; count < 3; count += 1)
    ids.unshift((await createUser(actor, `g${count}@example.com`)).user_id)
  for (const id of ids) {
    const user = await userModel(db).findOne({ id }).lean().orFail()
    await eraseGuest(service.live, user)
  }
  expect(await erasedOf(actor, { erased_after: always, per_page: '2' })).toMatchObject({
    ids: ids.slice(0, 2),
    total: 3,
  })
  expect(await erasedOf(actor, { erased_after: always, per_page: '2', page: '2' })).toMatchObject({
    ids: ids.slice(2),
    total: 3,
  })
  const address = `erased-${ids[0]}@erased.invalid`
  expect(await erasedOf(actor, { erased_after: always, email: address })).toMatchObject({
    ids: ids.slice(0, 1),
    total: 1,
  })
  for (const email of ['g0@example.com', 'erased-0@erased.invalid', 'erased-x@erased.invalid'])
    expect(await erasedOf(actor, { erased_after: always, email })).toMatchObject({ ids: [], total: 0 })
})

test('a guest is not found by the old address among the erased while the erasure runs', async () => {
  const actor = await service.actor()
  const { user_id } = await createUser(actor, 'running@example.com')
  await inTransaction(db, 'test', (session) =>
    markErasing(db, session, { owner_id: actor.hostId, id: user_id }, { at: undefined, now: new Date() }),
  )
  const found = (email: string) => erasedOf(actor, { erased_after: always, email })
  expect(await found('running@example.com')).toMatchObject({ ids: [], total: 0 })
  expect(await found(`Erased-${user_id}@ERASED.invalid`)).toMatchObject({ ids: [user_id], total: 1 })
})

test('a sync after the last erasure it knows misses none, although twenty at the same moment are erased by two clocks', async () => {
  const actor = await service.actor()
  const ids: number[] = []
  for (let count = 0; count < 20; count += 1) ids.push((await createUser(actor)).user_id)
  const moment = new Date()
  /** Two processes whose clocks stand still, one of them behind the other. */
  const clocks = [() => moment, () => new Date(moment.getTime() - 30_000)]
  const erasing = Promise.all(
    ids.map(async (id, index) => {
      const user = await userModel(db).findOne({ id }).lean().orFail()
      await eraseGuest({ ...service.live, clock: clocks[index % 2] as () => Date }, user)
    }),
  )
  const seen: number[] = []
  let after = always
  const sync = async () => {
    const { ids: found, times } = await erasedOf(actor, { erased_after: after, per_page: '3' })
    seen.push(...found)
    after = times.at(-1) ?? after
  }
  let isOver = false
  const over = erasing.then(() => {
    isOver = true
  })
  while (!isOver) await sync()
  await over
  while ((await erasedOf(actor, { erased_after: after })).total > 0) await sync()
  expect(seen.toSorted((one, other) => one - other)).toEqual(ids)
})

test('in the sandbox, the list of the erased is empty, because nobody is erased there', async () => {
  const actor = await service.actor()
  expect(await erasedOf(actor, { erased_after: always }, '/sandbox')).toMatchObject({ ids: [], total: 0 })
})

test.each([
  ['erased_after=', 'invalid'],
  ['erased_after=yesterday', 'invalid'],
  ['erased_after=2026-02-30T00:00:00Z', 'invalid'],
  ['erased_after=2026-01-01T00:00:00Z&erased_after=2026-01-01T00:00:00Z', 'invalid'],
])('GET /v1/users?%s responds 422 at "erased_after" instead of listing everybody', async (query, code) => {
  const actor = await service.actor()
  const { status, body } = await actor.send('GET', `/v1/users?${query}`)
  expect({ status, errors: body.error.errors }).toMatchObject({
    status: 422,
    errors: [{ path: 'erased_after', code }],
  })
})

/** Two spellings of one address each. */
const spellings = [
  ['a domain in punycode', 'ana@bücher.example', 'ana@xn--bcher-kva.example'],
  ['a domain in punycode and upper case', 'ana@Bücher.example', 'ana@XN--BCHER-KVA.EXAMPLE'],
  ['a domain with decomposed letters', 'ana@bücher.example', 'ana@bu\u0308cher.example'],
  ['a domain with another full stop', 'ana@例え.example', 'ana@例え。example'],
  ['a domain in full-width letters', 'ana@example.com', 'ana@ｅｘａｍｐｌｅ.com'],
  ['a domain whose lower case depends on its last letter', 'ana@ΝΊΚΟΣ.example', 'ana@νίκοσ.example'],
  ['a local part with decomposed letters', 'josé@example.com', 'JOSE\u0301@example.com'],
] as const

test.each(spellings)('one mailbox is one user, even if it is written with %s', async (_, one, other) => {
  const actor = await service.actor()
  const { user_id, email } = await createUser(actor, one)
  expect(email).toBe(one.toLowerCase().replace('ς', 'σ'))
  for (const spelling of [one, other, email]) {
    const body = { email: ` ${spelling} `, first_name: 'Ana', last_name: 'Puig' }
    const again = await actor.send('POST', '/v1/users', { body })
    const { path, code } = again.body.error.errors[0]
    expect({ spelling, status: again.status, path, code }).toEqual({
      spelling,
      status: 422,
      path: 'email',
      code: 'invalid',
    })
    const found = await actor.send('GET', `/v1/users?email=${encodeURIComponent(spelling)}`)
    const ids = found.body.data.map((user: { user_id: number }) => user.user_id)
    expect({ spelling, ids }).toEqual({ spelling, ids: [user_id] })
  }
})

test('an address is shown in the spelling that was sent, in lower case, and similar addresses stay different', async () => {
  const actor = await service.actor()
  const sent = [
    'Jose\u0301@BÜCHER.example',
    'jose@bücher.example',
    'ana@straße.example',
    'ana@strasse.example',
  ]
  const shown: string[] = []
  for (const email of sent) shown.push((await createUser(actor, email)).email)
  expect(shown).toEqual(sent.map((email) => email.toLowerCase()))
})
