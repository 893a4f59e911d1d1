import { expect, test } from 'vitest'
import { models, outboxTopics } from '../../../src/operations/release.ts'
import { type Actor, seedBooking, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import {
  fillOwn,
  type KeyedRoute,
  makeOwnIds,
  type Prefix,
  triedRoutes,
  withOwnIds,
} from '../../support/routes.ts'
import { listenToTransactions, type Statement } from '../../support/transactions.ts'
import { validBodies } from '../../support/valid-bodies.ts'

/**
 * A cluster sharded by `owner_id` never runs a transaction across two shards, because every statement in a transaction
 * names the same host (decisions §11, operations "Sharding").
 */
const url = `${await ownDatabase()}&monitorCommands=true`
const service = await testApp({ MONGODB_URL: url })
const listener = listenToTransactions(service.live.db)

/** Returns the transactions whose statements do not all name the same host. */
function scattered(statements: Statement[]): string[] {
  return [...Map.groupBy(statements, ({ transaction }) => transaction).values()]
    .filter((ofOne) => new Set(ofOne.flatMap(({ hosts }) => hosts)).size > 1 || ofOne.some(isUnscoped))
    .map((ofOne) => ofOne.map(({ text, hosts }) => `${text} ${hosts.map(String)}`).join('; '))
}

function isUnscoped({ hosts }: Statement): boolean {
  return hosts.length === 0 || hosts.includes(undefined)
}

/** Returns a request's status and its statements in transactions, which all end before the response. */
async function statementsOf(send: () => Promise<{ status: number }>) {
  const before = listener.statements.length
  const { status } = await send()
  return { status, statements: listener.statements.slice(before) }
}

// No background job may run while a request is observed.
await Promise.all([service.live.outbox.stop(), service.sandbox.outbox.stop()])

const everything = { rateLimit: 1_000_000 }
const reader = await service.actor(everything)
/** The data that all reads share. */
const read = { '/v1': await makeOwnIds(reader, '/v1'), '/sandbox': await makeOwnIds(reader, '/sandbox') }

async function writerWith<T>(prefix: Prefix, make: (writer: Actor, prefix: Prefix) => Promise<T>) {
  const writer = await service.actor(everything)
  return [writer, await make(writer, prefix)] as const
}
/** Calls `make` on first use, so that a test that runs alone creates only the data that it needs. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
const owners = {
  '/v1': once(() => writerWith('/v1', makeOwnIds)),
  '/sandbox': once(() => writerWith('/sandbox', makeOwnIds)),
}
const writers = {
  '/v1': once(() => writerWith('/v1', validBodies)),
  '/sandbox': once(() => writerWith('/sandbox', validBodies)),
}

/** Returns a function that sends a valid request with the host's own ids; writes have an `Idempotency-Key`. */
async function requestOf({ method, path, takesBody, requiredQuery }: KeyedRoute) {
  const prefix = path.startsWith('/sandbox') ? '/sandbox' : '/v1'
  if (method === 'GET') {
    const query = new URLSearchParams(withOwnIds(requiredQuery, read[prefix]))
    return () => reader.send('GET', `${fillOwn(path, read[prefix])}?${query}`)
  }
  const headers = { 'idempotency-key': crypto.randomUUID() }
  if (!takesBody) {
    const [owner, own] = await (method === 'DELETE' ? writerWith(prefix, makeOwnIds) : owners[prefix]())
    return () => owner.send(method, fillOwn(path, own), { headers })
  }
  if (path === '/sandbox/certifications') {
    const fresh = await service.actor(everything)
    return () => fresh.send(method, path, { body: { profiles: ['webhooks'] } })
  }
  const [writer, bodies] = await writers[prefix]()
  const valid = bodies[`${method} ${path}`]
  if (!valid) throw new Error(`${method} ${path} is not in the documentation`)
  return () => writer.send(method, valid.path, { body: valid.body(), headers })
}

/** Writes that affect a single document and therefore need no transaction. */
const ofOneDocument = [
  'POST /integrations/:provider/provider-key',
  'PUT /integrations/:provider/bookings/consumers/:name',
  'DELETE /integrations/:provider/bookings/consumers/:name',
  'PUT /integrations/:provider/messages/consumers/:name',
  'DELETE /integrations/:provider/messages/consumers/:name',
  'POST /integrations/:provider/calendars/check',
  'POST /webhooks',
  'PATCH /webhooks/:id',
  'DELETE /webhooks/:id',
  'POST /webhooks/:id/secret/rotate',
  'POST /webhooks/:id/test',
  'POST /webhooks/:id/deliveries/:delivery_id/resend',
  'POST /clock',
  'PUT /faults',
  'DELETE /faults',
  'DELETE /certifications/:id',
  'PUT /certifications/:id/state',
  'DELETE ',
]
const listedBelow = 'add it to `ofOneDocument` in this file if it changes a single document'
/** Reads that show several collections as of one point in time. */
const ofOneMoment = [
  'GET /integrations/:provider/availability',
  'GET /integrations/:provider/availability/nights',
  'GET /integrations/:provider/calendars/:room_id',
]

test.each(triedRoutes(service))('$method $path names one host in each transaction', async (route) => {
  const { status, statements } = await statementsOf(await requestOf(route))
  expect(status).toBeLessThan(300)
  expect(scattered(statements)).toEqual([])
  const name = `${route.method} ${route.path}`
  const withoutPrefix = name.replace(/ \/(v1|sandbox)/, ' ')
  const isTransaction =
    route.method === 'GET' ? ofOneMoment.includes(withoutPrefix) : !ofOneDocument.includes(withoutPrefix)
  // The other routes may also show statements, because background work may have started a transaction.
  if (isTransaction)
    expect(statements.length, `${name} used no transaction: ${listedBelow}`).toBeGreaterThan(0)
  if (process.env.TABLE) console.log(name, statements.map(({ text }) => text).join(' · '))
})

const jobs = await service.actor(everything)
const { listing_id, room_type_id } = await seedBooking(jobs)
const unit = { listing_id, room_type_id }

/** For each outbox topic, a function that creates work for it, and its job's payload. */
const topics: Record<string, { make(): Promise<unknown>; payload: object }> = {
  UserCreated: { make: async () => {}, payload: { host_id: jobs.hostId } },
  CompactAvailability: {
    make: () =>
      jobs.send('POST', '/v1/integrations/provider_one/availability', {
        body: { data: Array.from({ length: 90 }, (_, day) => ({ ...unit, available: 3, ...days(day) })) },
      }),
    payload: { owner_id: jobs.hostId, room_type_ids: [room_type_id] },
  },
}

function days(count: number) {
  const start_date = new Date(Date.UTC(2033, 0, 1 + count)).toISOString().slice(0, 10)
  return { start_date, end_date: start_date }
}

test.each(Object.entries(outboxTopics(service.live)))(
  'a job of %s names one host in each transaction',
  async (name, run) => {
    const work = topics[name]
    if (!work) throw new Error(`Nothing makes a job of ${name}`)
    await work.make()
    const { statements } = await statementsOf(async () => {
      await run(work.payload as Record<string, unknown>)
      return { status: 200 }
    })
    expect(scattered(statements)).toEqual([])
  },
)

test('only collections that belong to no host have a unique index that does not begin with the host', () => {
  const global = models
    .map((model) => model(service.live.db))
    .flatMap(({ schema, collection }) =>
      (schema.indexes() as [object, { unique?: boolean }][])
        .filter(
          ([key, { unique }]) => unique && !['owner_id', 'host_id'].includes(Object.keys(key)[0] as string),
        )
        .map(([key]) => `${collection.name}: ${Object.keys(key).join(', ')}`),
    )
  expect(global.sort()).toEqual([
    // This collection is used only in the sandbox database, where data belongs to a key and not to a host.
    'certifications: key_id',
    'hosts: email_key',
    'hosts: id',
    'keys: id',
    'keys: secrets.hash',
    'provider_keys: provider, fingerprint',
    'sandboxes: key_id',
  ])
})

test('no transaction of the whole run, even in the background, names more than one host', () => {
  expect(scattered(listener.statements)).toEqual([])
})
