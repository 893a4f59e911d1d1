import { expect, test } from 'vitest'
import { createApiKey } from '../../src/access/keys/secret.ts'
import { sharedServices, testApp } from '../support/app.ts'
import { sendOnWire } from '../support/wire.ts'

const [{ url }] = sharedServices()
const service = await testApp()
const actor = await service.actor()
const { key } = actor
const other = createApiKey()

const nameHost = (...headers: string[]) => sendOnWire(url, ['GET /v1/me HTTP/1.1', ...headers])

test.each([
  [`X-API-Key: ${key}`, `X-API-Key: ${key}`],
  [`X-API-Key: ${key}`, `x-api-key:   ${key}`, `X-API-KEY: ${key}`],
  [`X-API-Key: ${key}, ${key}`],
  [`Authorization: Bearer ${key}`, `Authorization: bearer ${key}`],
  [`Authorization: Bearer ${key}`, `X-API-Key: ${key}`, `X-API-Key: ${key}`],
  [`X-API-Key: ${key}`, 'X-API-Key:'],
  ['Authorization: Basic dXNlcjpwYXNz', `X-API-Key: ${key}`],
])('a key that is sent several times with equal values counts once (case %#)', async (...headers) => {
  expect((await nameHost(...headers)).status).toBe(200)
})

test.each([
  [`X-API-Key: ${key}`, `X-API-Key: ${other}`],
  [`X-API-Key: ${other}`, `X-API-Key: ${key}`],
  [`X-API-Key: ${key}`, `X-API-Key: ${key}`, 'X-API-Key: x'],
  [`Authorization: Bearer ${key}`, `Authorization: Bearer ${other}`],
  [`Authorization: Bearer ${key}`, 'Authorization: Basic dXNlcjpwYXNz'],
  [`X-API-Key: ${key}`, `X-API-Key: ${key}`, `Authorization: Bearer ${other}`],
])('different keys in one request are 401 (case %#)', async (...headers) => {
  const { status, body } = await nameHost(...headers)
  expect({ status, message: body.error.message }).toEqual({ status: 401, message: 'API key is invalid' })
})

/** Creates a user under the given `Idempotency-Key` headers; returns the user's id, or the problem. */
async function create(email: string, ...keys: string[]) {
  const lines = [
    'POST /v1/users HTTP/1.1',
    `X-API-Key: ${key}`,
    ...keys.map((one) => `Idempotency-Key: ${one}`),
  ]
  const sent = JSON.stringify({ email, first_name: 'Ann', last_name: 'Poe' })
  const { status, body } = await sendOnWire(url, lines, sent)
  const [problem] = body.error?.errors ?? []
  return { status, id: body.data?.user_id, problem: problem && `${problem.path} ${problem.code}` }
}

test('an Idempotency-Key that is sent twice, joined or quoted is the same key', async () => {
  const first = await create('twice@example.com', 'twice')
  expect(first.status).toBe(201)
  const forms = [
    ['twice', 'twice'],
    ['twice, twice'],
    ['"twice"'],
    ['"twice"', 'twice'],
    ['"twice", "twice"'],
  ]
  for (const keys of forms) expect(await create('twice@example.com', ...keys)).toEqual(first)
  const escaped = await create('escaped@example.com', String.raw`"a \"b\" \\c"`)
  expect(await create('escaped@example.com', String.raw`a "b" \c`)).toEqual(escaped)
  expect(escaped.status).toBe(201)
})

test('the length of an Idempotency-Key is the length inside its quotes', async () => {
  const inner = `${'k'.repeat(253)}\\"\\\\`
  expect((await create('long@example.com', `"${inner}"`)).status).toBe(201)
  expect((await create('longer@example.com', `"k${inner}"`)).problem).toBe('Idempotency-Key max')
})

test.each([
  ['k', 'other'],
  ['k', 'K'],
  ['k', ''],
  ['k, other'],
  ['k, k, other'],
  ['a, "a, b"'],
  ['"a, a"'],
  ['"'],
  ['""'],
  ['" "'],
  ['"k'],
  ['"k" '.concat('x')],
  ['"k";a=1'],
  [String.raw`"k\n"`],
  [String.raw`"k\"`],
  ['"kä"'],
])('different or malformed Idempotency-Keys are 422 and change nothing (case %#)', async (...keys) => {
  const { status, problem } = await create('nobody@example.com', ...keys)
  expect({ status, problem }).toEqual({ status: 422, problem: 'Idempotency-Key invalid' })
  const { body } = await actor.send('GET', '/v1/users?email=nobody@example.com')
  expect(body.data).toEqual([])
})

test('an Idempotency-Key may contain a comma and quotes elsewhere', async () => {
  for (const sent of ['a,b', 'a"b"', "it's", 'k,']) {
    const email = `${crypto.randomUUID()}@example.com`
    const first = await create(email, sent)
    expect({ key: sent, status: first.status }).toEqual({ key: sent, status: 201 })
    expect(await create(email, sent, sent)).toEqual(first)
  }
})

test('a Content-Length that is sent twice with equal values counts once, and its limit holds', async () => {
  const lines = ['POST /v1/users HTTP/1.1', `X-API-Key: ${key}`]
  const large = 'x'.repeat(1_100_000)
  const refused = await sendOnWire(url, [...lines, `Content-Length: ${large.length}`], large)
  const { status, body } = refused
  expect({ status, path: body.error.errors[0].path }).toEqual({ status: 413, path: 'body' })
})
