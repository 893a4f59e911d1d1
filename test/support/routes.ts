import type { Permission } from '../../src/keys/permissions.ts'
import type { TestApp } from './app.ts'

/** A route behind the door, as the route table tells it. */
export interface GuardedRoute {
  method: string
  path: string
  permission: Permission | 'any'
}

/** Every route below a prefix that needs a key: a new one is in every shared test by being registered. */
export function guardedRoutes({ app }: TestApp, prefix = '/v1'): GuardedRoute[] {
  return app.routes.flatMap(({ method, path, hooks }) => {
    const permission = hooks?.detail?.['x-permission'] as GuardedRoute['permission'] | undefined
    return permission && path.startsWith(prefix) ? [{ method, path, permission }] : []
  })
}

/** The path with its parameters filled in; ids that no host has unless told. */
export function fill(path: string, values: Record<string, string | number> = {}): string {
  return path.replace(/:(\w+)/g, (_, name: string) =>
    String(values[name] ?? (name === 'provider' ? 'provider_one' : 999_999_999)),
  )
}

/** A body that no route accepts, for the methods that have one. */
export function anyBody(method: string): { body?: unknown } {
  return method === 'POST' || method === 'PATCH' ? { body: {} } : {}
}
