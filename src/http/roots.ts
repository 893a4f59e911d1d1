/** The path below which each environment has its routes. */
export const roots = { live: '/v1', sandbox: '/sandbox' } as const

export type EnvironmentName = keyof typeof roots

/** Splits a path into its environment and the rest; a path below neither root has no environment. */
export function splitRoot(path: string): { environment: EnvironmentName | undefined; rest: string } {
  for (const [environment, root] of Object.entries(roots) as [EnvironmentName, string][])
    if (path === root || path.startsWith(`${root}/`)) return { environment, rest: path.slice(root.length) }
  return { environment: undefined, rest: path }
}
