import { expect, test } from 'vitest'
import { models, outboxTopics } from '../../../src/compose.ts'
import { type Actor, mongodbUrlOf, seedBooking, testApp } from '../../support/app.ts'
import { fill, guardedRoutes } from '../../support/routes.ts'
import { listenToTransactions, type Statement } from '../../support/transactions.ts'
import { validBodies } from '../../support/valid-bodies.ts'

/**
 * A cluster that is sharded by `host_id` never runs a transaction over two shards, because every statement of one names
 * the same host (decisions §11, operations "Sharding").
 */
const url = `${mongodbUrlOf(`one_shard_${crypto.randomUUID().slice(0, 8)}`)}&monitorCommands=true`
const service = await testApp({ MONGODB_URL: url })
const listener = listenToTransactions(service.live.db)

/** The statements of one transaction that do not all name one and the same host. */
function scattered(statements: Statement[]): string[] {
  return [...Map.groupBy(statements, ({ transaction }) => transaction).values()]
    .filter((ofOne) => new Set(ofOne.flatMap(({ hosts }) => hosts)).size > 1 || ofOne.some(isUnscoped))
    .map((ofOne) => ofOne.map(({ text, hosts }) => `${text} ${hosts.map(String)}`).join('; '))
}

function isUnscoped({ hosts }: Statement): boolean {
  return hosts.length === 0 || hosts.includes(undefined)
}

/** What a request sends in transactions; all of it is done when the response is there. */
async function statementsOf(send: () => Promise<{ status: number }>) {
  const before = listener.statements.length
  const { status } = await send()
  return { status, statements: listener.statements.slice(before) }
}

/** Everything a route takes: its body, a key to repeat it with, and its path with the ids of the actor. */
async function requestOf(actor: Actor, route: { method: string; path: string; takesBody: boolean }) {
  const headers = { 'idempotency-key': crypto.randomUUID() }
  if (!route.takesBody) return () => actor.send(route.method, fill(route.path), { headers })
  const prefix = route.path.startsWith('/sandbox') ? '/sandbox' : '/v1'
  const valid = (await validBodies(actor, prefix))[`${route.method} ${route.path}`]
  if (!valid) throw new Error(`There is no valid body for ${route.method} ${route.path}`)
  return () => actor.send(route.method, valid.path, { body: valid.body(), headers })
}

const table: Record<string, string[]> = {}

test.each(guardedRoutes(service))('$method $path names one host in each transaction', async (route) => {
  const send = await requestOf(await service.actor({ rateLimit: 1_000_000 }), route)
  const { status, statements } = await statementsOf(send)
  expect(status).toBeLessThan(500)
  expect(scattered(statements)).toEqual([])
  table[`${route.method} ${route.path}`] = statements.map(({ text }) => text)
})

test('every write of the contract is a transaction', () => {
  const writes = guardedRoutes(service, '/v1').filter(({ method }) => method !== 'GET')
  const without = writes.map(({ method, path }) => `${method} ${path}`).filter((name) => !table[name]?.length)
  expect(without).toEqual([
    'POST /v1/integrations/:provider/provider-key',
    'PUT /v1/integrations/:provider/bookings/consumers/:name',
    'DELETE /v1/integrations/:provider/bookings/consumers/:name',
    'PUT /v1/integrations/:provider/messages/consumers/:name',
    'DELETE /v1/integrations/:provider/messages/consumers/:name',
    'POST /v1/webhooks',
    'PATCH /v1/webhooks/:id',
    'DELETE /v1/webhooks/:id',
    'POST /v1/webhooks/:id/secret/rotate',
    'POST /v1/webhooks/:id/test',
    'POST /v1/webhooks/:id/deliveries/:delivery_id/resend',
  ])
})

const jobs = await service.actor({ rateLimit: 1_000_000 })
const { listing_id, room_type_id } = await seedBooking(jobs)
const unit = { listing_id, room_type_id }

/** What makes work for each topic of the outbox, and the payload of a job of it. */
const topics: Record<string, { make(): Promise<unknown>; payload: object }> = {
  UserCreated: { make: async () => {}, payload: { host_id: jobs.hostId } },
  ApplyRates: {
    make: () =>
      jobs.send('POST', '/v1/integrations/provider_one/rates', {
        body: { data: [{ ...unit, base_price: 7 }] },
      }),
    payload: { host_id: jobs.hostId, sequence: 2 },
  },
  CompactAvailability: {
    make: () =>
      jobs.send('POST', '/v1/integrations/provider_one/availability', {
        body: { data: Array.from({ length: 90 }, (_, day) => ({ ...unit, available: 3, ...days(day) })) },
      }),
    payload: { host_id: jobs.hostId, room_type_ids: [room_type_id] },
  },
}

function days(count: number) {
  const start_date = new Date(Date.UTC(2033, 0, 1 + count)).toISOString().slice(0, 10)
  return { start_date, end_date: start_date }
}

test.each(Object.entries(outboxTopics(service.live)))(
  'a job of %s names one host in each',
  async (name, topic) => {
    const work = topics[name]
    if (!work) throw new Error(`Nothing makes a job of ${name}`)
    await work.make()
    const { statements } = await statementsOf(async () => {
      await topic.run(work.payload as Record<string, unknown>)
      return { status: 200 }
    })
    expect(scattered(statements)).toEqual([])
    table[`job ${name}`] = statements.map(({ text }) => text)
  },
)

test('only what belongs to no host has a unique index that does not begin with the host', () => {
  const global = models
    .map((model) => model(service.live.db))
    .flatMap(({ schema, collection }) =>
      (schema.indexes() as [object, { unique?: boolean }][])
        .filter(([key, { unique }]) => unique && Object.keys(key)[0] !== 'host_id')
        .map(([key]) => `${collection.name}: ${Object.keys(key).join(', ')}`),
    )
  expect(global.sort()).toEqual([
    'api_keys: id',
    'api_keys: secrets.hash',
    'hosts: email',
    'hosts: id',
    'provider_keys: provider, fingerprint',
    'sandbox_scopes: key_id',
  ])
})

test('nothing else that ran meanwhile, in the background or beside, names more than one host', () => {
  expect(scattered(listener.statements)).toEqual([])
  if (process.env.TABLE)
    for (const [name, texts] of Object.entries(table)) console.log(name, texts.join(' · '))
})
