import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mongoose, { type Connection } from 'mongoose'
import { expect, test } from 'vitest'
import { openEmbeddedMongod } from '../../../src/platform/mongo/server/embedded.ts'
import { restoreEmbedded } from '../../../src/platform/mongo/server/embedded-backup.ts'
import { withServer } from '../../../src/platform/mongo/server/mongod.ts'
import { freePort } from '../../../src/platform/process.ts'
import { sender } from '../../support/app.ts'
import { KeyedLoad } from '../../support/keyed-load.ts'
import { partnerctl, type ServiceProcess, startService } from '../../support/processes.ts'

type Document = Record<string, unknown> & { _id: unknown }
/** All documents of the important collections, by collection and `_id`. */
type State = Map<string, Map<string, Document>>

const compared = [
  'users',
  'listings',
  'keys',
  'hosts',
  'bookings',
  'messages',
  'stored_responses',
  'host_clocks',
  'audit',
  'provider_keys',
]

async function openData(dataDir: string): Promise<Connection> {
  const { port } = JSON.parse(await readFile(join(dataDir, 'mongod.json'), 'utf8'))
  return mongoose.createConnection(`mongodb://127.0.0.1:${port}/partner?directConnection=true`).asPromise()
}

async function readState(dataDir: string): Promise<State> {
  const connection = await openData(dataDir)
  const entries = await Promise.all(
    compared.map(async (name) => {
      const documents = (await connection.collection(name).find().toArray()) as Document[]
      return [name, new Map(documents.map((document) => [String(document._id), document]))] as const
    }),
  )
  await connection.close()
  return new Map(entries)
}

const documentsOf = (state: State, name: string) => [...(state.get(name)?.values() ?? [])]
const bookingIds = (state: State) => documentsOf(state, 'bookings').map(({ id }) => id as number)

/**
 * Checks that a copy equals the original at one point in time. The host's bookings are created one after another, so
 * the copy must contain exactly the oldest bookings by version, each with its message and stored response.
 */
function checkMoment(copy: State, original: State): void {
  const last = Math.max(...documentsOf(copy, 'bookings').map(({ updated_at }) => Number(updated_at)))
  const isBefore = ({ updated_at }: Document) => Number(updated_at) <= last
  const bookings = documentsOf(original, 'bookings').filter(isBefore)
  const references = new Set(bookings.map(({ id }) => id as number))
  const bookingOf: Record<string, (document: Document) => number> = {
    bookings: ({ id }) => id as number,
    messages: ({ booking_id }) => booking_id as number,
    stored_responses: ({ body }) => JSON.parse(body as string).data.booking_id,
  }
  for (const [name, reference] of Object.entries(bookingOf)) {
    const expected = documentsOf(original, name).filter((document) => references.has(reference(document)))
    expect(new Map(expected.map((document) => [String(document._id), document]))).toEqual(copy.get(name))
  }
  for (const name of ['users', 'listings', 'hosts', 'provider_keys'])
    expect(copy.get(name)).toEqual(original.get(name))
}

test.concurrent('a backup made under load and restored elsewhere is consistent, and no poller misses a later change', async ({
  onTestFinished,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-restore-'))
  const [dataDir, elsewhere, backup] = ['data', 'elsewhere', 'backup'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const settings = (DATA_DIR: string) => ({ DATA_DIR, RATE_LIMIT_PER_MINUTE: '1000000', PORT })
  const PORT = String(await freePort())
  const running: ServiceProcess[] = []
  onTestFinished(async () => {
    await Promise.all(running.map((service) => service.end('SIGTERM')))
    await rm(folder, { recursive: true, force: true })
  })
  const start = async (of: string) => {
    const service = await startService(settings(of))
    running.push(service)
    return service
  }
  const end = async () => expect(await running.pop()?.end('SIGTERM')).toBe(0)
  const administer = (of: string, ...args: string[]) => partnerctl([...args, '--json'], settings(of))

  const service = await start(dataDir)
  const seeded = JSON.parse((await administer(dataDir, 'seed')).stdout)
  const { key, user_id, listing_id } = seeded
  const stay = { user_id, listing_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const send = (method: string, path: string, body?: object) =>
    sender(fetch, service.url)(method, `/v1${path}`, { key, ...(body ? { body } : {}) })
  const load = new KeyedLoad(() => service.url, key, { ...stay, message: 'Hi' }, { writers: 2 })
  await load.resumption(10_000)
  const before = new Set(load.acknowledged.values())
  const made = await administer(dataDir, 'db', 'backup', backup)
  expect(made).toMatchObject({ code: 0, stderr: '' })
  await load.resumption(10_000)
  await load.stop()
  expect(load.failures).toEqual({})
  expect((await readdir(backup)).sort()).toEqual(['backup.json', 'mongodb'])

  // Three pollers read all changes, including those that the restore will lose.
  const provider = '/integrations/provider_one'
  const file = join(folder, 'state')
  const environment = { PARTNER_API_KEY: key, PARTNER_BASE_URL: service.url }
  const withFile = async () => {
    const args = ['feed', 'poll', '--once', '--output', 'ndjson', '--state', file]
    const { stdout } = await partnerctl(args, environment)
    return stdout
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }
  const readAll = async (query: string) => {
    const found: { booking_id: number; status: string; version: string }[] = []
    for (let cursor = ''; ; ) {
      const { body } = await send('GET', `${provider}/bookings?per_page=100&${cursor || query}`)
      found.push(...body.data.Bookings)
      const next = body.meta.pagination.next_cursor
      if (!next) return found
      cursor = `cursor=${next}`
    }
  }
  const after = (version: string) => `updated_after=${encodeURIComponent(version)}`
  const acknowledge = (version: string | null) =>
    send('PUT', `${provider}/bookings/consumers/sync`, { acknowledged: version })
  const seen = await readAll('')
  const lastSeen = seen.at(-1)?.version as string
  expect((await withFile()).length).toBe(seen.length)
  expect((await acknowledge(lastSeen)).status).toBe(200)
  const original = await readState(dataDir)
  await end()

  const restored = await administer(elsewhere, 'db', 'restore', backup)
  expect(restored).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      /^Keys and hosts .*\nKeys that were rotated .*\nAll webhooks .*\nGuests .*\nPartners .*\n$/,
    ),
  })
  expect(Date.parse(JSON.parse(restored.stdout).versions_after)).toBeGreaterThan(Date.now() + 86_000_000)
  await start(elsewhere)
  const copy = await readState(elsewhere)
  checkMoment(copy, original)
  const restoredIds = new Set(bookingIds(copy))
  expect([...before].filter((id) => !restoredIds.has(id))).toEqual([])
  expect(restoredIds.size).toBeLessThan(bookingIds(original).length)

  // After a second restore, the ids and versions issued since the first restore are not reused.
  const between = (await send('POST', '/bookings', stay)).body.data.booking_id as number
  await end()
  expect((await administer(elsewhere, 'db', 'restore', backup)).code).toBe(0)
  await start(elsewhere)

  // Changes after the restore reach all pollers, and new bookings have ids that no partner has seen.
  const created = await Promise.all([1, 2, 3].map(() => send('POST', '/bookings', stay)))
  const newIds = created.map(({ body }) => body.data.booking_id as number)
  expect(Math.min(...newIds)).toBeGreaterThan(Math.max(between, ...bookingIds(original)))
  const old = [...restoredIds].slice(0, 2)
  for (const id of old) expect((await send('POST', `/bookings/${id}/cancel`)).status).toBe(200)
  const expected = [...newIds, ...old].sort()
  const idsOf = (changes: { booking_id: number }[]) => changes.map(({ booking_id }) => booking_id).sort()
  expect(idsOf(await readAll(after(lastSeen)))).toEqual(expected)
  expect(idsOf(await withFile())).toEqual(expected)
  // The consumer was created after the backup, so its poller recreates it at the last position.
  expect((await acknowledge(lastSeen)).status).toBe(200)
  expect(idsOf(await readAll('consumer=sync'))).toEqual(expected)
})

test.concurrent('writes resume after a backup was killed while it blocked them', async ({
  onTestFinished,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-restore-'))
  const dataDir = join(folder, 'data')
  const service = await startService({ DATA_DIR: dataDir })
  onTestFinished(async () => {
    await service.end('SIGTERM')
    await rm(folder, { recursive: true, force: true })
  })
  const { key } = JSON.parse((await partnerctl(['seed', '--json'], { DATA_DIR: dataDir })).stdout)
  // Simulates the state that a backup leaves if it is killed while it copies files.
  const { port } = JSON.parse(await readFile(join(dataDir, 'mongod.json'), 'utf8'))
  await withServer(port, (admin) => admin.command({ fsync: 1, lock: true }))
  const killed = Bun.spawn(['true'])
  await killed.exited
  await Bun.write(join(dataDir, 'writes-held-by'), String(killed.pid))
  const body = { email: 'after@example.com', first_name: 'A', last_name: 'B' }
  const created = await sender(fetch, service.url)('POST', '/v1/users', { key, body })
  expect(created.status).toBe(201)
  expect(existsSync(join(dataDir, 'writes-held-by'))).toBe(false)
  const again = await partnerctl(['db', 'backup', join(folder, 'backup')], { DATA_DIR: dataDir })
  expect(again.code).toBe(0)
})

test.concurrent('db restore keeps the data that it replaces', async ({ onTestFinished }) => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-restore-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  const backup = join(folder, 'backup')
  await Bun.write(join(dataDir, 'mongodb', 'old'), 'what was there')
  await Bun.write(join(backup, 'mongodb', 'new'), 'what is put back')
  const record = { completed_at: 'now', oldest_schema_version: 0, files: { new: 16 } }
  await Bun.write(join(backup, 'backup.json'), JSON.stringify(record))
  const aside = (await restoreEmbedded(backup, dataDir, new Date())) as string
  expect(await readFile(join(aside, 'old'), 'utf8')).toBe('what was there')
  expect(await readdir(join(dataDir, 'mongodb'))).toEqual(['new'])
  await Bun.write(join(backup, 'mongodb', 'new'), 'what is')
  const cut = restoreEmbedded(backup, dataDir, new Date())
  await expect(cut).rejects.toThrow(/ is not complete: mongodb\/new is missing or truncated$/)
  await Bun.write(join(backup, 'mongodb', 'new'), 'what is put back')
  await rename(join(dataDir, 'mongodb'), join(dataDir, 'mongodb.restoring'))
  await expect(openEmbeddedMongod(dataDir)).rejects.toThrow(/^A restore of .* was cut short: run /)
  await Bun.write(join(dataDir, 'users', String(process.pid)), '')
  const refused = restoreEmbedded(backup, dataDir, new Date())
  await expect(refused).rejects.toThrow(/^A server is running on .*: stop the service first$/)
})

test.concurrent('db backup and db restore report failures and then leave everything unchanged', async ({
  onTestFinished,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-restore-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  const run = (args: string[], more: Record<string, string> = {}) =>
    partnerctl(['db', ...args], { DATA_DIR: dataDir, ...more })
  const outcome = async (args: string[], more?: Record<string, string>) => {
    const { code, stderr } = await run(args, more)
    return { code, message: stderr.split('\n')[0] }
  }
  await Bun.write(join(folder, 'full', 'file'), 'x')
  const full = join(folder, 'full')
  expect(await outcome(['restore', full])).toEqual({
    code: 1,
    message: `There is no complete backup in ${full}`,
  })
  expect(existsSync(dataDir)).toBe(false)
  expect(await outcome(['backup', full])).toEqual({
    code: 1,
    message: `The folder ${full} is not empty: name a new folder`,
  })
  const foreign = { MONGODB_URL: 'mongodb://127.0.0.1:1' }
  const why = 'MONGODB_URL is set: use the tools that come with MongoDB, see "Backups" in docs/operations.md'
  for (const command of ['backup', 'restore'])
    expect(await outcome([command, full], foreign)).toEqual({ code: 2, message: why })
  const future = { completed_at: 'x', oldest_schema_version: 99, files: {} }
  await Bun.write(join(full, 'backup.json'), JSON.stringify(future))
  expect(await outcome(['restore', full])).toEqual({
    code: 1,
    message:
      'The database has schema version 99, and this release knows versions up to 0: start a later release',
  })
  const options: [string[], string][] = [
    [['--ids', '0'], 'Option --ids must be an integer from 1 to 1000000000'],
    [['--ahead', '400d'], 'Option --ahead must be at most 365d'],
    [['--ahead', 'soon'], '"soon" is not a valid duration; for example, use 60s, 15m, 24h or 7d'],
  ]
  for (const [args, message] of options)
    expect(await outcome(['after-restore', ...args])).toEqual({ code: 2, message })
})
