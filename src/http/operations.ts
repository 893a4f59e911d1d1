import { roots } from './roots.ts'

interface Route {
  method: string
  path: string
  hooks?: { detail?: { operationId?: string; 'x-meets-faults'?: boolean } }
}

/**
 * Returns the method and path of each sandbox route into which faults can be injected, by operation id. A sandbox route
 * that also exists below `/v1` has the same operation id there.
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
