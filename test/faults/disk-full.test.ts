import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { sender, type TestAnswer } from '../support/app.ts'
import { type ServiceProcess, startService } from '../support/processes.ts'
import { mountSmallDisk } from '../support/small-disk.ts'

const recoveryLimitMilliseconds = 30_000

const disk = await mountSmallDisk(500)
let service: ServiceProcess | undefined
afterAll(async () => {
  await service?.end('SIGTERM')
  await disk.end()
})

/** A listing that takes some hundred kilobytes on the disk. */
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

test('the embedded database on a full disk: not ready and clean errors; with space again, all that was acknowledged', {
  timeout: 180_000,
}, async () => {
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

  const filledMebibytes = await disk.fill()
  const acknowledged: number[] = []
  let refused: TestAnswer
  for (let count = 0; ; count += 1) {
    const answer = await create(count)
    refused = answer
    if (answer.status !== 201) break
    acknowledged.push(answer.body.data.id)
  }
  for (const answer of [refused, await send('GET', '/v1/listings', { key })]) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([500, '5'])
    expect(answer.body.error).toEqual({
      type: 'internal_error',
      message: 'An unexpected error occurred',
      request_id: answer.headers.get('x-request-id'),
      errors: [],
    })
  }
  const unready = await send('GET', '/readyz')
  expect([unready.status, unready.body.failing]).toEqual([503, ['database']])
  expect((await send('GET', '/healthz')).status).toBe(200)

  await disk.free()
  const freedAt = Date.now()
  while ((await send('GET', '/readyz')).status !== 200) {
    expect(Date.now() - freedAt).toBeLessThan(recoveryLimitMilliseconds)
    await Bun.sleep(100)
  }
  const recovery = Date.now() - freedAt
  for (const id of acknowledged) {
    expect([id, (await send('GET', `/v1/listings/${id}`, { key })).status]).toEqual([id, 200])
  }
  const retried = await create(acknowledged.length)
  expect(retried.status).toBe(201)
  console.log(
    `Disk filled with ${filledMebibytes} MiB: ${acknowledged.length} listings acknowledged until the database died, 0 lost; ready again ${recovery} ms after there was space`,
  )
})
