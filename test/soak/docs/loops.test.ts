import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findBookingOfAnyHost } from '../../../src/stays/bookings/store.ts'
import { transitionBooking } from '../../../src/stays/bookings/transitions.ts'
import { type Actor, seedBooking, testApp, testEnvironment } from '../../support/app.ts'
import { truthOf } from '../../support/history.ts'
import { startNginx } from '../../support/nginx.ts'
import { type ServiceProcess, startService } from '../../support/processes.ts'
import { controlOf } from '../../support/soak.ts'

const service = await testApp()
const { db } = service.live
const guides = await readFile(new URL('../../../src/pages/docs/guides.md', import.meta.url), 'utf8')

/** The code blocks of a guide, with the address filled in. */
function codeOf(guide: string, base: string): string[] {
  const [, text = ''] = guides.split(`## ${guide}\n`)
  const [section = ''] = text.split('\n## ')
  return [...section.matchAll(/```\n([\s\S]*?)```/g)].map(([, code = '']) => code.replaceAll('{base}', base))
}

/** The reader's part of the guide: a handler that writes a line for each change, and a place for the version. */
const aroundJavaScript = (loop: string) => `
const { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs')
const headers = { 'X-API-Key': process.env.PARTNER_API_KEY }
const load = async () => (existsSync('version') ? readFileSync('version', 'utf8') : null)
const save = async (version) => { writeFileSync('version.new', version); renameSync('version.new', 'version') }
const handle = async (booking) => appendFileSync('handled', JSON.stringify(booking) + '\\n')
const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))
async function main() {
${loop}
}
main()
`

const loops = {
  JavaScript: async (folder: string, base: string) => {
    await writeFile(
      join(folder, 'loop.cjs'),
      aroundJavaScript(codeOf('Changes as they happen', base)[0] as string),
    )
    return ['node', 'loop.cjs']
  },
  curl: async (folder: string, base: string) => {
    await writeFile(join(folder, 'handle-change'), '#!/bin/sh\nprintf "%s\\n" "$1" >> handled\n')
    await chmod(join(folder, 'handle-change'), 0o755)
    await writeFile(join(folder, 'loop.sh'), codeOf('Changes as they happen', base)[1] as string)
    return ['sh', 'loop.sh']
  },
}

/** A loop of the guide as a process, in a folder of its own. */
async function runLoop(language: keyof typeof loops, base: string, { key }: Actor) {
  const folder = await mkdtemp(join(tmpdir(), 'partner-loop-'))
  const command = await loops[language](folder, base)
  const start = () =>
    Bun.spawn(['setsid', ...command], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', PARTNER_API_KEY: key },
      stdout: 'ignore',
      stderr: 'ignore',
    })
  const handled = async (): Promise<{ booking_id: number; status: string; version: string }[]> =>
    (await readFile(join(folder, 'handled'), 'utf8').catch(() => ''))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  return { start, handled }
}

/** A loop runs as a process group, because curl is a separate process. */
async function kill(child: Bun.Subprocess): Promise<void> {
  process.kill(-child.pid, 'SIGKILL')
  await child.exited
}

test.concurrent.each(Object.keys(loops) as (keyof typeof loops)[])(
  "the guide's loop in %s sees changes immediately and loses none if it is killed and the service restarted",
  async (language) => {
    const services = await Promise.all([1, 2].map(() => startService(testEnvironment())))
    const portOf = ({ url }: ServiceProcess) => Number(new URL(url).port)
    const proxy = await startNginx(services.map(portOf), true)
    const actor = await service.actor({ rateLimit: 10_000 })
    const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor)
    const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
    const loop = await runLoop(language, proxy.url, actor)
    let child = loop.start()
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
      await kill(child)
      await book()
      child = loop.start()
      const changed = await book()
      await transitionBooking(service.live, await findBookingOfAnyHost(db, changed), { to: 'confirmed' })
      expect(await one.end('SIGTERM')).toBe(0)
      services[index] = await startService({ ...testEnvironment(), PORT: String(portOf(one)) })
    }
    await knows(await book())
    await kill(child)
    const known = new Map((await loop.handled()).map((booking) => [booking.booking_id, booking]))
    const truth = await truthOf(db, actor.hostId)
    expect([...truth].map(([id, { state, version }]) => [id, state, version])).toEqual(
      [...truth].map(([id]) => [id, known.get(id)?.status, known.get(id)?.version]),
    )
    await Promise.all([proxy.stop(), ...services.map((one) => one.stop())])
  },
)
