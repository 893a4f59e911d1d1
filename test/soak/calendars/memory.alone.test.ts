import { readFile, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { toDay } from '../../../src/core/clock.ts'
import { sender, testApp, testEnvironment } from '../../support/app.ts'
import { listingWithCalendars, startCalendarServer } from '../../support/calendars.ts'
import { ownDatabase } from '../../support/databases.ts'
import { largestGzipFile, largestPlainFile } from '../../support/large-calendar.ts'
import { startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const environment = { MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on', LOG_LEVEL: 'silent' }
const rounds = 10 * soakFactor
const today = toDay(new Date())

/** Returns a process's resident memory in MiB: now, or the most since the last `forgetMost`. */
async function resident(pid: number, which: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
}

function forgetMost(pid: number): Promise<void> {
  return writeFile(`/proc/${pid}/clear_refs`, '5')
}

test.each([
  ['the largest files that are sent plainly', largestPlainFile(today), {}],
  ['the largest files in gzip', largestGzipFile(today), { 'content-encoding': 'gzip' }],
])('%s take at most 64 MiB four at a time, in a service', async (name, file, headers) => {
  const observer = await testApp(environment)
  await observer.live.calendars.stop()
  const actor = await observer.actor()
  const service = await startService(testEnvironment(environment))
  try {
    const send = sender(fetch, service.url)
    const entries: string[] = []
    const servers: { url: string }[] = []
    for (let count = 0; count < 4; count += 1) {
      const server = startCalendarServer(() => {})
      server.serve('/small', () => new Response('BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n'))
      server.serve('/large', () => new Response(file, { headers }))
      servers.push(server)
    }
    const read = async (entry: string) => {
      const sending = { key: actor.key, body: { accept: true } }
      const { status, body } = await send('POST', `${entry}/read`, sending)
      expect({ status, read: body.data?.calendar.status }).toEqual({ status: 200, read: 'ok' })
      return body.data.calendar
    }
    /** Sets the address of a calendar at each server through the service, which reads all of them at once. */
    const set = async (path: string) => {
      const addAt = async ({ url }: { url: string }) => {
        const { roomIds } = await listingWithCalendars({ ...actor, send: ofActor }, [`${url}${path}`])
        entries.push(`/v1/integrations/provider_one/calendars/${roomIds[0]}`)
      }
      const before = await countRead()
      await Promise.all(servers.map(addAt))
      await expect.poll(countRead, { timeout: 60_000 }).toBe(before + servers.length)
    }
    const countRead = async () => {
      const shown = await actor.send('GET', '/v1/integrations/provider_one/calendars?status=ok')
      return shown.body.data.calendars.length
    }
    const ofActor = (method: string, path: string, sending: object = {}) =>
      send(method, path, { key: actor.key, ...sending })
    await set('/small')
    for (let count = 0; count < 50; count += 1) await Promise.all(entries.map(read))
    entries.length = 0
    await Bun.sleep(2000)
    const idle = await resident(service.pid, 'VmRSS')
    await forgetMost(service.pid)
    await set('/large')
    const first = Math.round((await resident(service.pid, 'VmHWM')) - idle)
    const most: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const calendars = await Promise.all(entries.map(read))
      expect(calendars[0].events).toEqual({ read: 10_000, blocking: 10_000, skipped: 0 })
      most.push(Math.round((await resident(service.pid, 'VmHWM')) - idle))
    }
    console.log(
      `${name}: ${idle.toFixed(0)} MiB when idle, at most ${first} above; without a pause: ${most.join(', ')}`,
    )
    expect(first).toBeLessThanOrEqual(64)
    // Without a pause, the collector runs late, but it runs.
    expect(most.at(-1)).toBeLessThanOrEqual(192)
  } finally {
    await service.stop()
  }
})
