import type { TObject } from '@sinclair/typebox'
import { vi } from 'vitest'
import type { Access, RateWindow } from '../../src/http/access.ts'
import type { Permission } from '../../src/http/permissions.ts'
import { type Actor, seedBooking, type TestApp } from './app.ts'
import { storeCertification } from './certification.ts'
import { isSoak } from './soak.ts'

/** A route that requires a key, as the route table describes it. */
export interface KeyedRoute {
  method: string
  path: string
  permission: Permission | 'any'
  /** Rate limit that a request counts against. */
  limit: RateWindow
  body: NonNullable<Access['body']> | 'none'
  takesBody: boolean
  /** Names of the query parameters. */
  queries: string[]
  /** Examples of the query parameters without which the route responds 422. */
  requiredQuery: Record<string, string>
}

/** One prefix for each environment. */
export const prefixes = ['/v1', '/sandbox'] as const
export type Prefix = (typeof prefixes)[number]

/** Returns the routes that require a key, optionally below a prefix. Shared tests use it to cover new routes, too. */
export function keyedRoutes({ app }: Pick<TestApp, 'app'>, prefix: Prefix | '' = ''): KeyedRoute[] {
  return app.routes
    .filter(({ path, hooks }) => hooks?.detail?.['x-permission'] && path.startsWith(prefix))
    .map(({ method, path, hooks: { detail } }) => ({
      method,
      path,
      permission: detail['x-permission'],
      limit: detail['x-limit'],
      body: detail['x-body'],
      takesBody: Boolean(detail.schemas.body),
      queries: Object.keys(detail.schemas.query?.properties ?? {}),
      requiredQuery: requiredOf(detail.schemas.query),
    }))
}

/**
 * Returns the routes that a test of every route tries. A sandbox route whose path also exists below /v1 shares the
 * pipeline and the handler of its live twin, so only the soak tries it too.
 */
export function triedRoutes(service: Pick<TestApp, 'app'>): KeyedRoute[] {
  const live = new Set(keyedRoutes(service, '/v1').map(({ method, path }) => `${method} ${path}`))
  const isTwin = ({ method, path }: KeyedRoute) =>
    path.startsWith('/sandbox') && live.has(`${method} ${path.replace('/sandbox', '/v1')}`)
  return keyedRoutes(service).filter((route) => isSoak || !isTwin(route))
}

function requiredOf(query: TObject | undefined): Record<string, string> {
  const required = query?.required ?? []
  return Object.fromEntries(required.map((name) => [name, query?.properties[name]?.example]))
}

/** Returns an operation's name in the documentation, such as `GET /users/{id}`. Both environments have the same name. */
export function operationOf({ method, path }: Pick<KeyedRoute, 'method' | 'path'>): string {
  return `${method} ${path.replace(/^\/(v1|sandbox)/, '').replace(/:(\w+)/g, '{$1}')}`
}

/** Returns the path with its parameters filled in, by default with ids that no host has. */
export function fill(path: string, values: Record<string, string | number> = {}): string {
  return path.replace(/:(\w+)/g, (_, name: string) =>
    String(values[name] ?? (name === 'provider' ? 'provider_one' : 999_999_999)),
  )
}

/** Returns an empty body if the route takes a body. */
export function anyBody({ takesBody }: Pick<KeyedRoute, 'takesBody'>): { body?: unknown } {
  return takesBody ? { body: {} } : {}
}

/** One host's ids in an environment, by the path segment they follow or the plural of the field that contains them. */
export type OwnIds = Record<string, string | number>

/** Creates one resource for every kind of id in a path. A new kind of resource needs an entry here. */
export async function makeOwnIds(actor: Actor, prefix: Prefix): Promise<OwnIds> {
  const { booking_id, listing_id, room_type_id, user_id, listing } = await seedBooking(actor, prefix)
  const provider = `${prefix}/integrations/provider_one`
  const data = [{ listing_id, room_type_id, base_price: 5 }]
  const rates = await actor.send('POST', `${provider}/rates`, { body: { data } })
  for (const feed of ['bookings', 'messages'])
    await actor.send('PUT', `${provider}/${feed}/consumers/own`, { body: { acknowledged: null } })
  const endpoint = { url: 'https://hooks.invalid/', events: ['booking.changed'] }
  const webhook = (await actor.send('POST', `${prefix}/webhooks`, { body: endpoint })).body.data.id
  const delivery = (await actor.send('POST', `${prefix}/webhooks/${webhook}/test`)).body.data.id
  return {
    bookings: booking_id,
    calendars: await ownCalendar(actor, prefix, listing),
    listings: listing_id,
    room_types: room_type_id,
    users: user_id,
    consumers: 'own',
    scenarios: 'guest-books',
    jobs: rates.body.meta.job_id,
    webhooks: webhook,
    deliveries: delivery,
    ...(prefix === '/sandbox' ? { certifications: await storeCertification(actor.db, actor, 'passed') } : {}),
  }
}

/**
 * Returns the id of a listing's room, whose calendar gets a server of its own, because readings at one server take turns.
 * There is no such server, and on live data the service has noticed that.
 */
async function ownCalendar(
  actor: Actor,
  prefix: Prefix,
  listing: Awaited<ReturnType<typeof seedBooking>>['listing'],
): Promise<number> {
  const [{ id, rooms }] = listing.room_types
  const availability = { ical: `https://${crypto.randomUUID()}.invalid/calendar.ics` }
  const room_types = [{ id, rooms: [{ id: rooms[0].id, availability }] }]
  await actor.send('PATCH', `${prefix}/listings/${listing.id}`, { body: { room_types } })
  // While a process reads the calendar, which is at once on live data, nobody else may ask for it to be read.
  const path = `${prefix}/integrations/provider_one/calendars/${rooms[0].id}`
  const isRead = async () => (await actor.send('GET', path)).body.data.calendar.attempted_at !== null
  if (prefix === '/v1') await vi.waitUntil(isRead, { timeout: 60_000, interval: 50 })
  return rooms[0].id
}

/** Returns the path with all of its ids filled in. */
export function fillOwn(path: string, own: OwnIds): string {
  return path.replace(':provider', 'provider_one').replace(/(\w+)\/:\w+/g, (_, kind: string) => {
    if (own[kind] === undefined)
      throw new Error(`${path} has no id for "${kind}": add one to makeOwnIds() in test/support/routes.ts`)
    return `${kind}/${own[kind]}`
  })
}

/** Where an id stands in a body or query: the path to it, and its kind. */
export interface IdPlace {
  path: (string | number)[]
  kind: string
}

/**
 * Returns the places of a host's ids in a body or query: `listing_id` has the kind `listings`, and so has the `id` of an
 * element of `listings`. An id of the partner's own, which is a text, is none of them.
 */
export function idPlaces(value: unknown, own: OwnIds, path: IdPlace['path'] = []): IdPlace[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, child]) => idPlaces(child, own, [...path, key]))
  const field = String(path.at(-1))
  const kind = field === 'id' ? String(path.at(-3)) : field.replace(/_id$/, 's')
  const isOwn = /^(.+_)?id$/.test(field) && own[kind] !== undefined && /^\d+$/.test(String(value))
  return isOwn ? [{ path, kind }] : []
}

/** Returns a copy of a body or query with another value at one place. */
export function withValueAt<T>(value: T, path: IdPlace['path'], replacement: unknown): T {
  const [key, ...rest] = path
  if (key === undefined) return replacement as T
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string | number, unknown>
  copy[key] = withValueAt(copy[key], rest, replacement)
  return copy as T
}

/** Returns a copy of an example with the host's own ids. */
export function withOwnIds<T>(example: T, own: OwnIds): T {
  return idPlaces(example, own).reduce((body, { path, kind }) => withValueAt(body, path, own[kind]), example)
}
