import type { Permission } from '../../src/http/permissions.ts'
import { type Actor, seedBooking, type TestApp } from './app.ts'
import { storeCertification } from './certification.ts'

/** A route that the guard protects, as the route table describes it. */
export interface GuardedRoute {
  method: string
  path: string
  permission: Permission | 'any'
  takesBody: boolean
  /** Names of the query parameters. */
  queries: string[]
}

/** One prefix for each environment. */
export const prefixes = ['/v1', '/sandbox'] as const
export type Prefix = (typeof prefixes)[number]

/** Returns the routes that require a key, optionally below a prefix. Shared tests use it to cover new routes, too. */
export function guardedRoutes({ app }: TestApp, prefix: Prefix | '' = ''): GuardedRoute[] {
  return app.routes.flatMap(({ method, path, hooks }) => {
    const permission = hooks?.detail?.['x-permission'] as GuardedRoute['permission'] | undefined
    const takesBody = Boolean(hooks?.body)
    const queries = Object.keys(hooks?.query?.properties ?? {})
    return permission && path.startsWith(prefix) ? [{ method, path, permission, takesBody, queries }] : []
  })
}

/** Returns the path with its parameters filled in, by default with ids that no host has. */
export function fill(path: string, values: Record<string, string | number> = {}): string {
  return path.replace(/:(\w+)/g, (_, name: string) =>
    String(values[name] ?? (name === 'provider' ? 'provider_one' : 999_999_999)),
  )
}

/** Returns an empty body if the route takes a body. */
export function anyBody({ takesBody }: Pick<GuardedRoute, 'takesBody'>): { body?: unknown } {
  return takesBody ? { body: {} } : {}
}

/** One host's ids in an environment, by the path segment they follow. */
export type OwnIds = Record<string, string | number>

/** Creates one resource for every kind of id in a path. A new kind of resource needs an entry here. */
export async function makeOwnIds(actor: Actor, prefix: Prefix): Promise<OwnIds> {
  const { booking_id, listing_id, room_type_id, user_id } = await seedBooking(actor, prefix)
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
    listings: listing_id,
    users: user_id,
    consumers: 'own',
    jobs: rates.body.meta.job_id,
    webhooks: webhook,
    deliveries: delivery,
    ...(prefix === '/sandbox' ? { certifications: await storeCertification(actor.db, actor, 'passed') } : {}),
  }
}

/** Returns the path with all of its ids filled in. */
export function fillOwn(path: string, own: OwnIds): string {
  return path.replace(':provider', 'provider_one').replace(/(\w+)\/:\w+/g, (_, kind: string) => {
    if (own[kind] === undefined)
      throw new Error(`There is no id for "${kind}" in ${path}: add one in makeOwnIds()`)
    return `${kind}/${own[kind]}`
  })
}
