import { beforeAll, expect, test } from 'vitest'
import { listingModel } from '../../../src/inventory/listings/model.ts'
import { listingStatuses } from '../../../src/inventory/listings/schema.ts'
import { type Actor, sharedServices, testApp } from '../../support/app.ts'
import { sendOnWire } from '../../support/wire.ts'

const service = await testApp()
let actor: Actor

/** Each listing's name, status and minute of its last update. */
const portfolio: [string, (typeof listingStatuses)[number], number][] = [
  ['beta', 'published', 1],
  ['Alpha', 'published', 2],
  ['alpha', 'published', 3],
  ['Gamma 100%_x', 'draft', 4],
  ['delta', 'inactive', 5],
  ['Épsilon', 'pending', 6],
  ['gamma 100xyx', 'draft', 7],
]

beforeAll(async () => {
  actor = await service.actor()
  const stranger = await service.actor()
  await stranger.send('POST', '/v1/listings', { body: { name: 'foreign' } })
  for (const [index, [name, status, minute]] of portfolio.entries()) {
    const { body } = await actor.send('POST', '/v1/listings', { body: { name, original_id: `l${index}` } })
    await listingModel(service.live.db).updateOne(
      { id: body.data.id },
      {
        listing_status: status,
        status_rank: listingStatuses.indexOf(status),
        updated_at: new Date(Date.UTC(2026, 0, 1, 0, minute)),
      },
    )
  }
})

const names = async (query: string) => {
  const { status, body } = await actor.send('GET', `/v1/listings${query}`)
  expect(status).toBe(200)
  return body.data.map(({ name }: { name: string }) => name)
}

test.each([
  ['', ['Gamma 100%_x', 'gamma 100xyx', 'Épsilon', 'alpha', 'Alpha', 'beta', 'delta']],
  ['?order=desc', ['Gamma 100%_x', 'gamma 100xyx', 'Épsilon', 'alpha', 'Alpha', 'beta', 'delta']],
  ['?sort=id', ['beta', 'Alpha', 'alpha', 'Gamma 100%_x', 'delta', 'Épsilon', 'gamma 100xyx']],
  ['?sort=id&order=desc', ['gamma 100xyx', 'Épsilon', 'delta', 'Gamma 100%_x', 'alpha', 'Alpha', 'beta']],
  ['?sort=name', ['Alpha', 'alpha', 'beta', 'delta', 'Gamma 100%_x', 'gamma 100xyx', 'Épsilon']],
  ['?sort=name&order=desc', ['Épsilon', 'gamma 100xyx', 'Gamma 100%_x', 'delta', 'beta', 'alpha', 'Alpha']],
  ['?sort=updated_at', ['gamma 100xyx', 'Épsilon', 'delta', 'Gamma 100%_x', 'alpha', 'Alpha', 'beta']],
  [
    '?sort=updated_at&order=asc',
    ['beta', 'Alpha', 'alpha', 'Gamma 100%_x', 'delta', 'Épsilon', 'gamma 100xyx'],
  ],
  ['?sort=listing_status', ['Gamma 100%_x', 'gamma 100xyx', 'Épsilon', 'beta', 'Alpha', 'alpha', 'delta']],
  [
    '?sort=listing_status&order=desc',
    ['delta', 'alpha', 'Alpha', 'beta', 'Épsilon', 'gamma 100xyx', 'Gamma 100%_x'],
  ],
  ['?listing_status=inactive', ['delta']],
  ['?listing_status=inactive&listing_status=pending', ['Épsilon', 'delta']],
  ['?listing_status[]=inactive&listing_status[]=pending', ['Épsilon', 'delta']],
  ['?listing_status[0]=inactive&listing_status[1]=pending', ['Épsilon', 'delta']],
  ['?listing_status%5B7%5D=inactive&listing_status[]=pending', ['Épsilon', 'delta']],
  ['?listing_status=inactive&listing_status[99999999999999999999]=pending', ['Épsilon', 'delta']],
  ['?listing_status=inactive,pending', ['Épsilon', 'delta']],
  ['?listing_status=inactive%2Cpending,inactive', ['Épsilon', 'delta']],
  ['?listing_status[]=inactive,pending&listing_status=pending', ['Épsilon', 'delta']],
  ['?listing_status%5B%5D=draft', ['Gamma 100%_x', 'gamma 100xyx']],
  ['?q=ALPHA', ['alpha', 'Alpha']],
  ['?q=%25_', ['Gamma 100%_x']],
  ['?q=.', []],
  ['?q=é', ['Épsilon']],
  ['?q=100&listing_status=published', []],
  ['?q=', ['Gamma 100%_x', 'gamma 100xyx', 'Épsilon', 'alpha', 'Alpha', 'beta', 'delta']],
])('GET /v1/listings%s filters and sorts to %j', async (query, expected) => {
  expect(await names(query)).toEqual(expected)
})

test('GET /v1/listings pages without gaps or repeats, and responds even past the last page', async () => {
  const pages = await Promise.all(
    [1, 2, 3, 4].map((page) => actor.send('GET', `/v1/listings?per_page=3&page=${page}`)),
  )
  expect(pages.flatMap(({ body }) => body.data.map(({ id }: { id: number }) => id)).length).toBe(7)
  expect(new Set(pages.flatMap(({ body }) => body.data.map(({ id }: { id: number }) => id))).size).toBe(7)
  expect(pages.map(({ body }) => body.meta.pagination)).toEqual([
    { current_page: 1, per_page: 3, total: 7, last_page: 3, from: 1, to: 3 },
    { current_page: 2, per_page: 3, total: 7, last_page: 3, from: 4, to: 6 },
    { current_page: 3, per_page: 3, total: 7, last_page: 3, from: 7, to: 7 },
    { current_page: 4, per_page: 3, total: 7, last_page: 3, from: null, to: null },
  ])
  const empty = await (await service.actor()).send('GET', '/v1/listings')
  expect(empty.body.meta.pagination).toEqual({
    current_page: 1,
    per_page: 50,
    total: 0,
    last_page: 1,
    from: null,
    to: null,
  })
})

test('GET /v1/listings shows the item that the contract specifies', async () => {
  const { body } = await actor.send('GET', '/v1/listings?q=beta')
  expect(Object.keys(body.data[0])).toEqual([
    'id',
    'unique_id',
    'original_id',
    'name',
    'listing_status',
    'updated_at',
    'room_types',
  ])
  expect(body.data[0].updated_at).toBe('2026-01-01T00:01:00.000000Z')
})

test.each([
  ['?page=0', 'page', 'min'],
  ['?page=-1', 'page', 'min'],
  ['?page=x', 'page', 'invalid'],
  ['?page=1.5', 'page', 'invalid'],
  ['?page=', 'page', 'invalid'],
  ['?page=1&page=2', 'page', 'invalid'],
  ['?per_page=0', 'per_page', 'min'],
  ['?per_page=101', 'per_page', 'max'],
  ['?sort=price', 'sort', 'invalid'],
  ['?sort=id&sort=name', 'sort', 'invalid'],
  ['?order=up', 'order', 'invalid'],
  ['?listing_status=live', 'listing_status', 'invalid'],
  [`?q=${'q'.repeat(100_000)}`, 'q', 'max'],
  ['?q=%00', 'q', 'invalid'],
])('GET /v1/listings%.30s responds 422 at %s, %s', async (query, path, code) => {
  const { status, body } = await actor.send('GET', `/v1/listings${query}`)
  expect(status).toBe(422)
  expect(body.error.errors).toMatchObject([{ path, code }])
})

test('GET /v1/listings accepts a page number of any size', async () => {
  const { status, body } = await actor.send('GET', '/v1/listings?page=9007199254740&per_page=100')
  expect({ status, data: body.data, current_page: body.meta.pagination.current_page }).toEqual({
    status: 200,
    data: [],
    current_page: 9007199254740,
  })
})

test('GET /v1/listings ignores unknown query parameters and operators', async () => {
  expect(await names('?a[$ne]=1&host_id=1&__proto__=x&__proto__[a]=x&sort=id&per_page=1')).toEqual(['beta'])
})

test.each(['draft,', ',draft', 'draft,,pending', '', ',', 'draft,gone'])(
  'GET /v1/listings?listing_status=%s has an unknown word and gets 422 at the parameter',
  async (words) => {
    const { status, body } = await actor.send('GET', `/v1/listings?listing_status=${words}`)
    expect({ status, paths: body.error?.errors.map(({ path }: { path: string }) => path) }).toEqual({
      status: 422,
      paths: ['listing_status'],
    })
  },
)

test('GET /v1/listings?q= finds a name with U+FFFD, and refuses text that is not UTF-8', async () => {
  const other = await service.actor()
  await other.send('POST', '/v1/listings', { body: { name: 'sp\uFFFDter' } })
  const found = await other.send('GET', '/v1/listings?q=sp%EF%BF%BDt')
  expect({ status: found.status, total: found.body.meta?.pagination.total }).toEqual({
    status: 200,
    total: 1,
  })
  const refused = await other.send('GET', '/v1/listings?q=sp%FFt')
  expect(refused.body.error.errors).toEqual([
    {
      path: 'q',
      code: 'invalid',
      message: '"q" must be text in UTF-8 in which each "%" has two hexadecimal digits',
    },
  ])
})

test('GET /v1/listings reads raw bytes as UTF-8, and those that are not as U+FFFD', async () => {
  const [{ url }] = sharedServices()
  const find = (name: Buffer) =>
    sendOnWire(url, [`GET /v1/listings?q=${name.toString('latin1')} HTTP/1.1`, `X-API-Key: ${actor.key}`])
  const found = await find(Buffer.from('Épsilon'))
  expect({ status: found.status, names: found.body.data.map(({ name }: { name: string }) => name) }).toEqual({
    status: 200,
    names: ['Épsilon'],
  })
  const replaced = await find(Buffer.from('Épsilon', 'latin1'))
  expect({ status: replaced.status, names: replaced.body.data }).toEqual({ status: 200, names: [] })
  const bracketed = await actor.send('GET', '/v1/listings?q[]=a')
  expect(bracketed.body.error.errors).toEqual([
    { path: 'q', code: 'invalid', message: '"q" must be sent without these brackets' },
  ])
})

test('GET /v1/listings?q= finds names with Unicode white space and punctuation', async () => {
  const other = await service.actor()
  await other.send('POST', '/v1/listings', { body: { name: '東京\u3000下北沢 a\u2003b #1-x/y' } })
  const totals: Record<string, number> = {}
  for (const q of ['京\u3000下', 'a\u2003b', '#1-X', 'x/y']) {
    const { body } = await other.send('GET', `/v1/listings?q=${encodeURIComponent(q)}`)
    totals[q] = body.meta.pagination.total
  }
  expect(totals).toEqual({ '京\u3000下': 1, 'a\u2003b': 1, '#1-X': 1, 'x/y': 1 })
})

test('GET /v1/listings?q= finds a name whatever the case and the form of its letters', async () => {
  const other = await service.actor()
  for (const name of ['Cafe\u0301 Straße ΟΔΟΣ', 'İstanbul', 'Plain'])
    await other.send('POST', '/v1/listings', { body: { name } })
  const found: Record<string, string[]> = {}
  const queries = ['CAFÉ', 'cafe\u0301 s', 'STRASSE', 'straße', 'οδοσ', 'ΟΔΟΣ', 'i\u0307stan', 'cafe']
  for (const q of queries) {
    const { body } = await other.send('GET', `/v1/listings?q=${encodeURIComponent(q)}`)
    found[q] = body.data.map(({ name }: { name: string }) => name.slice(0, 3))
  }
  expect(found).toEqual({
    CAFÉ: ['Caf'],
    'cafe\u0301 s': ['Caf'],
    STRASSE: ['Caf'],
    straße: ['Caf'],
    οδοσ: ['Caf'],
    ΟΔΟΣ: ['Caf'],
    'i\u0307stan': ['İst'],
    cafe: [],
  })
})
