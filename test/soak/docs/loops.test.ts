import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findBookingOfAnyHost } from '../../../src/stays/bookings/store.ts'
import { transitionBooking } from '../../../src/stays/bookings/transitions.ts'
import { type Actor, seedBooking, sharedServices, testApp, testEnvironment } from '../../support/app.ts'
import { truthOf } from '../../support/history.ts'
import { type RunningNginx, startNginx } from '../../support/nginx.ts'
import { type ServiceProcess, startService } from '../../support/processes.ts'
import { killSample, makeProject, type Sample, samplesOf, startSample } from '../../support/samples.ts'
import { controlOf } from '../../support/soak.ts'

const service = await testApp()
const { db } = service.live
const project = await makeProject(sharedServices()[0].url)
afterAll(() => rm(project, { recursive: true }))

/** The guide's endless loops, adapted to live data as the guide instructs: with another address and other ids. */
const loops = samplesOf('changes-as-they-come')
  .filter(({ kind }) => kind === 'loop')
  .map(({ code, ...sample }) => ({
    ...sample,
    code: code.replaceAll('/sandbox/', '/v1/').replaceAll('sandbox: true', 'sandbox: false'),
  }))

/** Runs one of the guide's loops as a process in its own folder. */
function runLoop(sample: Sample, { url, environment }: RunningNginx, { key }: Actor) {
  const folder = join(project, crypto.randomUUID())
  const start = () =>
    startSample(sample, folder, { ...environment, PARTNER_BASE_URL: url, PARTNER_API_KEY: key })
  const handled = async (): Promise<{ booking_id: number; status: string; version: string }[]> =>
    (await readFile(join(folder, 'handled'), 'utf8').catch(() => ''))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  return { start, handled }
}

test.concurrent.each(loops)(
  "the guide's loop in $language sees changes immediately and loses none if it is killed and the service restarted",
  async (sample) => {
    const services = await Promise.all([1, 2].map(() => startService(testEnvironment())))
    const portOf = ({ url }: ServiceProcess) => Number(new URL(url).port)
    const proxy = await startNginx(services.map(portOf))
    const actor = await service.actor({ rateLimit: 10_000 })
    const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor)
    const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
    const loop = runLoop(sample, proxy, actor)
    let child = await loop.start()
    const knows = async (id: number) => {
      const start = performance.now()
      while (!(await loop.handled()).some((booking) => booking.booking_id === id)) await Bun.sleep(10)
      return performance.now() - start
    }
    const book = async () =>
      (await actor.send('POST', '/v1/bookings', { body: stay })).body.data.booking_id as number
    await knows(booking_id)
    await Bun.sleep(300)
    const control = await controlOf(() => actor.send('GET', '/v1/integrations/provider_one/bookings'), 5)
    expect(await knows(await book())).toBeLessThan(1000 + 100 * control)

    for (const [index, one] of services.entries()) {
      await killSample(child)
      await book()
      child = await loop.start()
      const changed = await book()
      await transitionBooking(service.live, await findBookingOfAnyHost(db, changed), { to: 'confirmed' })
      expect(await one.end('SIGTERM')).toBe(0)
      services[index] = await startService({ ...testEnvironment(), PORT: String(portOf(one)) })
    }
    await knows(await book())
    await killSample(child)
    const known = new Map((await loop.handled()).map((booking) => [booking.booking_id, booking]))
    const truth = await truthOf(db, actor.hostId)
    expect([...truth].map(([id, { state, version }]) => [id, state, version])).toEqual(
      [...truth].map(([id]) => [id, known.get(id)?.status, known.get(id)?.version]),
    )
    await Promise.all([proxy.stop(), ...services.map((one) => one.stop())])
  },
)
