import { roots } from '../../http/roots.ts'

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
  const operations = new Map<string, string>()
  for (const { method, path, hooks } of routes) {
    const { operationId, 'x-meets-faults': meetsFaults } = hooks?.detail ?? {}
    if (operationId === undefined || !meetsFaults || !path.startsWith(`${roots.sandbox}/`)) continue
    operations.set(operationId, `${method} ${path}`)
  }
  return operations
}
