import pino from 'pino'
import { expect, test } from 'vitest'
import { createApiKey } from '../../src/access/keys/secret.ts'
import { toErrorResponse } from '../../src/http/answer/error-response.ts'
import { IncomingBody } from '../../src/http/input/incoming-body.ts'
import { logOptions } from '../../src/platform/log.ts'
import { testApp } from '../support/app.ts'

test('the log of an unexpected error shows no malformed path parameter, which may be a key', () => {
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => lines.push(line) })
  const key = createApiKey()
  const request = new Request(`http://localhost/v1/listings/${key}`)
  const response = toErrorResponse(
    {
      error: new Error('The database is away'),
      code: 'UNKNOWN',
      set: { headers: {} },
      request,
      facts: { incomingBody: new IncomingBody(request) },
      route: '/v1/listings/:id',
    },
    log,
  )
  expect(response.status).toBe(500)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ path: '/v1/listings/…' }])
  expect(lines.join()).not.toContain(key)
})

test('the log of an error has its type, message, code and stack, and neither a document nor a value of it', async () => {
  const { live } = await testApp()
  const users = live.db.collection<{ _id: string; email: string }>(`log_${crypto.randomUUID()}`)
  await users.createIndex({ email: 1 }, { unique: true })
  const insert = (id: string) => ({ _id: id, email: 'ada@guests.example' })
  const errorOf = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: Error) => error,
    )
  const duplicates = [
    await errorOf(users.insertMany([insert('one'), insert('two')])),
    await errorOf(users.insertOne(insert('three'))),
    await errorOf(users.findOneAndUpdate({ _id: 'four' }, { $set: insert('four') }, { upsert: true })),
  ]
  await users.drop()
  const lines: string[] = []
  const log = pino(logOptions('error'), { write: (line: string) => lines.push(line) })
  const request = new Request('http://localhost/v1/users', { method: 'POST' })
  const context = {
    code: 'UNKNOWN',
    set: { headers: {} },
    request,
    facts: { incomingBody: new IncomingBody(request) },
    route: '/v1/users',
  }
  for (const error of duplicates) {
    toErrorResponse({ ...context, error }, log)
    toErrorResponse({ ...context, error: new Error('Cannot store', { cause: error }) }, log)
    log.error({ error: String(error) }, 'A job failed')
  }
  expect(lines).toHaveLength(9)
  expect(lines.filter((line) => line.includes('guests.example'))).toEqual([])
  for (const line of [lines[0], lines[3], lines[6]].map((text) => JSON.parse(text as string)))
    expect(line.err).toEqual({
      type: expect.stringMatching(/^Mongo/),
      message: expect.stringMatching(/^(E11000|Plan executor).* dup key: …$/),
      stack: expect.stringMatching(/^Mongo\w+: .*dup key: …\n\s+at /),
      code: 11_000,
    })
})
