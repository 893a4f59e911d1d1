import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { sender, type TestResponse } from '../../support/app.ts'
import { type ServiceProcess, startService } from '../../support/processes.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'

const recoveryLimitMilliseconds = 30_000

const disk = await mountSmallDisk(500)
let service: ServiceProcess | undefined
afterAll(async () => {
  await service?.end('SIGTERM')
  await disk.end()
})

/** Returns a listing that takes a few hundred kilobytes on disk. */
function bulkyListing(count: number) {
  const address = () => `https://photos.example/${randomBytes(1400).toString('base64url')}`
  const property = Array.from({ length: 100 }, () => ({ url: address() }))
  return {
    name: 'Bulky',
    original_id: `bulky-${count}`,
    media: { photos: { property } },
    room_types: [{ id: 'a', name: 'R' }],
  }
}

test('a service with a full disk is not ready, responds with clean errors and has lost nothing once there is space', async () => {
  service = await startService(
    { DATA_DIR: disk.path, LOG_LEVEL: 'silent', RATE_LIMIT_PER_MINUTE: '1000000' },
    disk.inside,
  )
  const key = /PARTNER_API_KEY=(\S+)/.exec(service.output())?.[1] as string
  const send = sender(fetch, service.url)
  const create = (count: number) =>
    send('POST', '/v1/listings', {
      key,
      body: bulkyListing(count),
      headers: { 'idempotency-key': `bulky-${count}` },
    })

  await disk.fill()
  const acknowledged: number[] = []
  let refused: TestResponse
  for (let count = 0; ; count += 1) {
    refused = await create(count)
    if (refused.status !== 201) break
    acknowledged.push(refused.body.data.id)
  }
  for (const response of [refused, await send('GET', '/v1/listings', { key })]) {
    expect({ status: response.status, retryAfter: response.headers.get('retry-after') }).toEqual({
      status: 500,
      retryAfter: '5',
    })
    expect(response.body.error).toEqual({
      type: 'internal_error',
      message: 'An unexpected error occurred',
      request_id: response.headers.get('x-request-id'),
      errors: [],
    })
  }
  const unready = await send('GET', '/readyz')
  expect({ status: unready.status, failing: unready.body.failing }).toEqual({
    status: 503,
    failing: ['database'],
  })
  expect((await send('GET', '/healthz')).status).toBe(200)

  await disk.free()
  const deadline = Date.now() + recoveryLimitMilliseconds
  while ((await send('GET', '/readyz')).status !== 200 && Date.now() < deadline) await Bun.sleep(100)
  expect((await send('GET', '/readyz')).status).toBe(200)
  const lost: number[] = []
  for (const id of acknowledged) {
    if ((await send('GET', `/v1/listings/${id}`, { key })).status !== 200) lost.push(id)
  }
  expect(lost).toEqual([])
  const retried = await create(acknowledged.length)
  expect(retried.status).toBe(201)
})
