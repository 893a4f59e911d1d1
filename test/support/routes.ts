import type { Permission } from '../../src/http/permissions.ts'
import type { TestApp } from './app.ts'

/** A route that the guard protects, as the route table describes it. */
export interface GuardedRoute {
  method: string
  path: string
  permission: Permission | 'any'
  takesBody: boolean
}

/** One prefix for each environment. */
export const prefixes = ['/v1', '/sandbox'] as const
export type Prefix = (typeof prefixes)[number]

/** Every route that needs a key, or those below a prefix: registering a new one adds it to all shared tests. */
export function guardedRoutes({ app }: TestApp, prefix: Prefix | '' = ''): GuardedRoute[] {
  return app.routes.flatMap(({ method, path, hooks }) => {
    const permission = hooks?.detail?.['x-permission'] as GuardedRoute['permission'] | undefined
    const takesBody = Boolean(hooks?.body)
    return permission && path.startsWith(prefix) ? [{ method, path, permission, takesBody }] : []
  })
}

/** The path with its parameters filled in, by default with ids that no host has. */
export function fill(path: string, values: Record<string, string | number> = {}): string {
  return path.replace(/:(\w+)/g, (_, name: string) =>
    String(values[name] ?? (name === 'provider' ? 'provider_one' : 999_999_999)),
  )
}

/** A body that no route accepts, for the routes that take one. */
export function anyBody({ takesBody }: Pick<GuardedRoute, 'takesBody'>): { body?: unknown } {
  return takesBody ? { body: {} } : {}
}
