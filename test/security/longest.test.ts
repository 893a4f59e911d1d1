import type { TSchema } from '@sinclair/typebox'
import { expect, test } from 'vitest'
import { type Actor, testApp } from '../support/app.ts'
import { validBodies } from '../support/valid-bodies.ts'

const service = await testApp()
const actor: Actor = await service.actor()
const bodies = await validBodies(actor)

const astral = '\u{1f3e0}'

// biome-ignore lint/suspicious/noExplicitAny: bodies of any route
type Tree = any

/** For each format that allows four-byte characters, a function that returns its longest value. */
const maxOf: Record<string, (maxLength: number) => string> = {
  text: (maxLength) => astral.repeat(maxLength),
  'calendar-address': (maxLength) => maxOf.uri?.(maxLength) ?? '',
  uri: (maxLength) => `https://x.example/${astral.repeat(maxLength - 'https://x.example/'.length)}`,
  email: (maxLength) => `${'\u{10330}'.repeat(64)}@${'\u{10330}'.repeat(maxLength - 68)}.aa`,
}

/** Returns a body with every field, the longest strings and the largest numbers allowed. */
function longest(schema: TSchema, sample: Tree): Tree {
  const variants = (schema.anyOf ?? []) as TSchema[]
  if (schema.readAs === 'id') return sample ?? 7
  if (schema.respondsAs === 'id') return sample
  if (variants.length > 0) return longest(variants.find(({ type }) => type !== 'null') as TSchema, sample)
  if (schema.type === 'object') {
    const fields = Object.entries(schema.properties as Record<string, TSchema>)
    const values = fields.map(([name, field]) => [name, longest(field, sample?.[name])] as const)
    return Object.fromEntries(values.filter(([, value]) => value !== undefined))
  }
  if (schema.type === 'array') return [longest(schema.items, sample?.[0])]
  if (schema.type === 'string') return maxOf[schema.format]?.(schema.maxLength) ?? sample
  return schema.maximum
}

const schemaOf = (name: string) =>
  service.app.routes.find(({ method, path }) => `${method} ${path}` === name)?.hooks.detail.schemas
    .body as TSchema

/** Applies rules that a schema cannot express: a host's listings have distinct ids, and a count has its own maximum. */
const unlikeSample = (sample: Tree, body: Tree, name: string) => ({
  ...body,
  ...(name.startsWith('PATCH') ? { original_id: `${astral.repeat(254)}p` } : {}),
  // A calendar's text has more characters than its body may have bytes in four-byte characters.
  ...(name.endsWith('/calendars/check') ? { text: sample.text } : {}),
  ...(name.endsWith('/read') ? { accept: true } : {}),
  ...(sample.data ? { data: [{ ...body.data[0], available: 2_147_483_647 }] } : {}),
})

test.each(Object.keys(bodies))(
  '%s accepts every field at its longest, in four-byte characters',
  async (name) => {
    const { path, body } = bodies[name] as (typeof bodies)[string]
    const [method = ''] = name.split(' ')
    const sent = unlikeSample(body(), longest(schemaOf(name), body()), name)
    const { status, text } = await actor.send(method, path, { body: sent })
    expect(status, text.slice(0, 500)).toBeLessThan(300)
  },
)

test.each(['name', 'original_id', 'parking'])(
  'POST /v1/listings with 256 characters in %s responds 422 max',
  async (field) => {
    const { status, body } = await actor.send('POST', '/v1/listings', {
      body: { name: 'N', [field]: astral.repeat(256) },
    })
    expect({ status, errors: body.error.errors }).toMatchObject({
      status: 422,
      errors: [{ path: field, code: 'max' }],
    })
  },
)

test('POST /v1/listings distinguishes listings with the longest ids and URLs', async () => {
  const fields = (end: string) => ({
    name: `${astral.repeat(254)}${end}`,
    original_id: `${astral.repeat(254)}${end}`,
    original_url: `https://x.example/${'y'.repeat(2029)}${end}`,
  })
  const create = (end: string) => actor.send('POST', '/v1/listings', { body: fields(end) })
  const a = await create('a')
  const b = await create('b')
  expect([a.status, b.status]).toEqual([201, 201])
  const again = await create('a')
  expect({ status: again.status, id: again.body.data.id }).toEqual({ status: 200, id: a.body.data.id })
  const { original_url, name } = fields('b')
  const byUrl = await actor.send('POST', '/v1/listings', { body: { original_url, name } })
  expect({ status: byUrl.status, id: byUrl.body.data.id }).toEqual({ status: 200, id: b.body.data.id })
  const sorted = await actor.send('GET', '/v1/listings?sort=name')
  expect(sorted.status).toBe(200)
})

test('an Idempotency-Key of 255 characters replays its response', async () => {
  const headers = { 'idempotency-key': '~'.repeat(255) }
  const send = () => actor.send('POST', '/v1/listings', { headers, body: { name: 'Once' } })
  const first = await send()
  const second = await send()
  expect(first.status).toBe(201)
  expect({ text: second.text, replayed: second.headers.get('idempotent-replayed') }).toEqual({
    text: first.text,
    replayed: 'true',
  })
})

test('POST /v1/listings accepts counts up to 2,147,483,647', async () => {
  const create = (bedrooms: number) =>
    actor.send('POST', '/v1/listings', { body: { name: 'Large', bedrooms } })
  expect((await create(2_147_483_647)).status).toBe(201)
  expect((await create(2_147_483_648)).body.error.errors).toMatchObject([{ path: 'bedrooms', code: 'max' }])
})
