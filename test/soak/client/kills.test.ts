import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { type Actor, makeActor, seedBooking, sender, testApp, testEnvironment } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const settings = { MONGODB_URL: await ownDatabase() }
const inspected = await testApp(settings)
const service = await startService(testEnvironment(settings))
const folder = await mkdtemp(join(tmpdir(), 'partner-kills-'))
afterAll(() => Promise.all([service.stop(), rm(folder, { recursive: true })]))

/** A loop that uses the package. It records each booking it has handled and, with a checkpoint, its position. */
const program = `
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createClient } from '${fileURLToPath(new URL('../../../client/src/index.ts', import.meta.url))}'
const [baseUrl, key, kind] = process.argv.slice(2)
const client = createClient({ baseUrl, key })
const after = existsSync('version') ? readFileSync('version', 'utf8') : null
const options = kind === 'consumer' ? { consumer: 'killed' } : { after }
for await (const { booking_id, status, version } of client.bookings.feed({ ...options, wait: 20, per_page: 10 })) {
  appendFileSync('handled', booking_id + ' ' + status + ' ' + version + '\\n')
  if (kind === 'consumer') continue
  writeFileSync('version.new', version)
  renameSync('version.new', 'version')
}
`
const perPage = 10

test.concurrent.each(['consumer', 'checkpoint'])(
  'a loop with a %s that is killed again and again loses nothing and repeats at most a page each time',
  async (kind) => {
    const home = await mkdtemp(join(folder, `${kind}-`))
    const built = await Bun.build({
      entrypoints: [await entry(home)],
      target: 'node',
      outdir: home,
      naming: 'loop.mjs',
    })
    expect(built.success).toBe(true)
    const actor = await makeActor(inspected.live, sender(fetch, service.url))
    const stop = await startWriting(actor)
    const rounds = 100 * soakFactor
    for (let round = 0; round < rounds; round += 1) {
      const child = start(home, actor, kind)
      await Bun.sleep(80 + Math.random() * 220)
      child.kill('SIGKILL')
      await child.exited
    }
    await stop()
    const { data, meta } = (await actor.send('GET', '/v1/integrations/provider_one/bookings?per_page=1')).body
    expect(data.Bookings).toHaveLength(1)
    const newest = (await actor.send('GET', '/v1/integrations/provider_one/bookings/digest')).body.data.digest
      .version
    const last = start(home, actor, kind)
    const lines = async () =>
      (await readFile(join(home, 'handled'), 'utf8').catch(() => '')).split('\n').filter(Boolean)
    while (!(await lines()).some((line) => line.endsWith(newest))) await Bun.sleep(50)
    last.kill('SIGKILL')
    await last.exited
    const handled = await lines()
    const states = new Map(handled.map((line) => [line.split(' ')[0], line]))
    const truth: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = cursor === '' ? '' : `&cursor=${cursor}`
      const { body } = await actor.send('GET', `/v1/integrations/provider_one/bookings?per_page=100${query}`)
      for (const { booking_id, status, version } of body.data.Bookings)
        truth.push(`${booking_id} ${status} ${version}`)
      cursor = body.meta.pagination.next_cursor
    }
    expect(truth.map((line) => states.get(line.split(' ')[0]))).toEqual(truth)
    const repeated = handled.length - new Set(handled).size
    console.log(
      `${kind}: ${rounds} kills, ${meta.pagination.total} bookings, ${handled.length} handled, ${repeated} again`,
    )
    expect(repeated).toBeLessThanOrEqual((rounds + 1) * (kind === 'consumer' ? perPage : 1))
    expect(handled.length).toBeGreaterThan(100)
  },
)

async function entry(home: string): Promise<string> {
  const file = join(home, 'loop.ts')
  await writeFile(file, program)
  return file
}

function start(home: string, { key }: Actor, kind: string) {
  return Bun.spawn(['node', 'loop.mjs', service.url, key, kind], {
    cwd: home,
    stdout: 'ignore',
    stderr: 'inherit',
    env: { PATH: process.env.PATH ?? '' },
  })
}

/** Creates and confirms bookings until the returned function is called. */
async function startWriting(actor: Actor): Promise<() => Promise<void>> {
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const body = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  let isOver = false
  const writing = (async () => {
    while (!isOver) {
      const made = await actor.send('POST', '/v1/bookings', { body, repeatWhileBusy: true })
      await actor.send('POST', `/v1/bookings/${made.body.data.booking_id}/confirm`, { repeatWhileBusy: true })
      await Bun.sleep(20)
    }
  })()
  return async () => {
    isOver = true
    await writing
  }
}
