import pino from 'pino'
import { expect, test } from 'vitest'
import { createApiKey } from '../../src/access/keys/secret.ts'
import { toErrorResponse } from '../../src/http/error-response.ts'

test('the log of an unexpected error shows no malformed path parameter, which may be a key', () => {
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => lines.push(line) })
  const key = createApiKey()
  const response = toErrorResponse(
    {
      error: new Error('The database is away'),
      code: 'UNKNOWN',
      set: { headers: {} },
      request: new Request(`http://localhost/v1/listings/${key}`),
      route: '/v1/listings/:id',
    },
    log,
  )
  expect(response.status).toBe(500)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ path: '/v1/listings/…' }])
  expect(lines.join()).not.toContain(key)
})
