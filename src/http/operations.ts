import { roots } from './roots.ts'

interface Route {
  method: string
  path: string
  hooks?: { detail?: { operationId?: string; 'x-meets-faults'?: boolean } }
}

/**
 * The routes of the sandbox on which faults can be met, with their methods, by the ids of their operations: those of the
 * routes of `/v1`, and of those that only the sandbox has.
 */
export function operationsOf(routes: readonly Route[]): ReadonlyMap<string, string> {
  return new Map(
    routes.flatMap(({ method, path, hooks }) => {
      const { operationId, 'x-meets-faults': meetsFaults } = hooks?.detail ?? {}
      const isMet = operationId !== undefined && meetsFaults && path.startsWith(`${roots.sandbox}/`)
      return isMet ? [[operationId, `${method} ${path}`] as const] : []
    }),
  )
}
