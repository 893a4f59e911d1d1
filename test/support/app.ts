import { inject } from 'vitest'
import { createHost } from '../../src/access/hosts/store.ts'
import { mintKey } from '../../src/access/keys/store.ts'
import { createApp } from '../../src/app.ts'
import type { Clock } from '../../src/core/clock.ts'
import { type Config, readConfig } from '../../src/core/config.ts'
import type { AppContext } from '../../src/http/context.ts'
import { type Permission, permissions } from '../../src/http/permissions.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { compose, type OpenContext, type Overrides } from '../../src/process/wiring.ts'
import { onScopeEnd } from './databases.ts'
import { environmentOf } from './environment.ts'
import { readFixture } from './fixtures.ts'

/** A response with a parsed body; `text` is the unparsed body. */
export interface TestResponse {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
  body: any
  text: string
  headers: Headers
}

export interface Sending {
  headers?: Record<string, string>
  /** Sent as JSON; a string is sent unchanged. */
  body?: unknown
  /** Sent instead of the actor's key; null sends no key. */
  key?: string | null
  /**
   * True to send the request again, as partners do, while the response is a 409 or 500 with a `Retry-After`. Only for
   * requests that race on purpose or that meet a fault, because a request on its own must succeed the first time.
   */
  repeatWhileBusy?: boolean
}

/** A host with a key, and a function that sends requests with the key. */
export interface Actor {
  hostId: number
  keyId: number
  key: string
  /** The live database. */
  db: Db
  send(method: string, path: string, sending?: Sending): Promise<TestResponse>
}

export interface TestApp {
  live: AppContext
  sandbox: AppContext
  app: ReturnType<typeof createApp>
  /** Resolves once every previous request is counted and its entry in the request log is stored. */
  logged(): Promise<void>
  /** Sends a request without a key unless one is given. */
  send(method: string, path: string, sending?: Sending): Promise<TestResponse>
  /** Creates a host with a key; its rate limit cannot be reached unless one is given. */
  actor(options?: { permissions?: Permission[]; rateLimit?: number | null }): Promise<Actor>
}

/** Returns the settings of a service that uses this run's servers. */
export function testEnvironment(more: Record<string, string> = {}): Record<string, string> {
  return { ...environmentOf(inject('mongodbUrl'), inject('redisUrl')), ...more }
}

/** Returns two processes of this run, which every test may send requests to but no test may stop. */
export function sharedServices(): [{ url: string }, { url: string }] {
  const [one, other] = inject('serviceUrls')
  return [{ url: one }, { url: other }]
}

/** The service that all files of a worker share, because most tests only need their own host. */
let usual: Promise<TestApp> | undefined

/**
 * Starts the whole service in this process, on this run's real servers. A service with its own settings or clock is
 * closed at the end of its test or file.
 *
 * @param clock the service's clock
 * @param more other values in place of a service process's defaults
 */
export async function testApp(
  environment: Record<string, string> = {},
  clock?: Clock,
  more?: Pick<Overrides, 'wall' | 'noTimeouts' | 'alarmInterval' | 'workInterval'>,
): Promise<TestApp> {
  if (Object.keys(environment).length > 0 || clock || more) {
    const { service, close } = await openApp(environment, { clock, ...more })
    onScopeEnd(close)
    return service
  }
  usual ??= openApp({}).then(({ service }) => service)
  return usual
}

async function openApp(environment: Record<string, string>, overrides: Overrides = {}) {
  const config: Config = readConfig(testEnvironment(environment))
  // This run's database server never fails, so the service waits even if a busy machine makes the server slow.
  const server = inject('mongodbUrl').replace(/\/\?.*/, '/')
  const isOwn = config.mongodbUrl?.startsWith(server) ?? false
  const { noTimeouts = isOwn } = overrides
  const context = await compose(config, { ...overrides, noTimeouts })
  const { live, sandbox } = context
  const app = createApp(context)
  const requests = countRequests(app, context)
  const send = sender((request) => app.handle(request))
  const service: TestApp = {
    live,
    sandbox,
    app,
    async logged() {
      while (requests.noted < requests.begun) await Bun.sleep(1)
      await live.journal.flush()
    },
    send: (method, path, sending) => send(method, path, { key: null, ...sending }),
    actor: (options) => makeActor(live, send, options),
  }
  return { service, close: () => context.close() }
}

/** Counts the requests that have begun and those that are noted; a request is noted after its response is sent. */
function countRequests(app: TestApp['app'], { metrics }: Pick<OpenContext, 'metrics'>) {
  const counts = { begun: 0, noted: 0 }
  const handle = app.handle
  app.handle = (request) => {
    counts.begun += 1
    return handle(request)
  }
  const observe = metrics.observeRequest.bind(metrics)
  metrics.observeRequest = (...seen) => {
    observe(...seen)
    counts.noted += 1
  }
  return counts
}

/** Returns a function that sends requests, in this process or over a real socket. */
export function sender(handle: (request: Request) => Promise<Response>, base = 'http://localhost') {
  return async (
    method: string,
    path: string,
    { headers, body, key, repeatWhileBusy = false }: Sending = {},
  ): Promise<TestResponse> => {
    const init: RequestInit = { method, headers: { ...(key ? { 'x-api-key': key } : {}), ...headers } }
    if (body !== undefined) init.body = typeof body === 'string' ? body : JSON.stringify(body)
    let response = await handle(new Request(base + path, init))
    while (repeatWhileBusy && mayComeAgain(response)) {
      await Bun.sleep(Number(response.headers.get('retry-after')) * 1000)
      response = await handle(new Request(base + path, init))
    }
    const text = await response.text()
    return { status: response.status, body: parse(text), text, headers: response.headers }
  }
}

function mayComeAgain({ status, headers }: Response): boolean {
  return (status === 409 || status === 500) && headers.has('retry-after')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Store = Pick<AppContext, 'db' | 'clock'>

export async function makeActor(
  { db, clock }: Store,
  send: ReturnType<typeof sender>,
  options: { permissions?: Permission[]; rateLimit?: number | null } = {},
): Promise<Actor> {
  const host = await createHost(db, clock, { name: 'Test host', email: `${crypto.randomUUID()}@example.com` })
  const { key, record } = await mintKey(db, clock, {
    host: host.id,
    name: 'Test key',
    permissions: options.permissions ?? [...permissions],
    rateLimit: options.rateLimit === undefined ? 1_000_000 : options.rateLimit,
  })
  return {
    hostId: host.id,
    keyId: record.id,
    key,
    db,
    send: (method, path, sending) => send(method, path, { key, ...sending }),
  }
}

/** Creates a user, a full listing and a booking for the actor's host. */
export async function seedBooking(actor: Actor, prefix: '/v1' | '/sandbox' = '/v1') {
  // Without a password, because hashing one takes 40 ms of computing, and only tests of users need it.
  const { password: _, ...guest } = await readFixture('users/maria')
  const user = await actor.send('POST', `${prefix}/users`, { body: guest })
  const written = await actor.send('POST', `${prefix}/listings`, {
    body: await readFixture('listings/barcelona-house'),
  })
  const listing = await actor.send('GET', `${prefix}/listings/${written.body.data.id}`)
  const stay = await readFixture('bookings/winter-stay')
  const room_type_id = listing.body.data.room_types[0].id
  const ids = { user_id: user.body.data.user_id, listing_id: written.body.data.id, room_type_id }
  const booking = await actor.send('POST', `${prefix}/bookings`, { body: { ...stay, ...ids } })
  return { ...ids, booking_id: booking.body.data.booking_id as number, listing: listing.body.data, booking }
}
