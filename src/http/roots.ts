/** Root path of each environment's routes. */
export const roots = { live: '/v1', sandbox: '/sandbox' } as const

export type EnvironmentName = keyof typeof roots

const environments = Object.entries(roots) as [EnvironmentName, string][]

/** Splits a path into its environment and the rest. The environment is undefined if the path is below neither root. */
export function splitRoot(path: string): { environment: EnvironmentName | undefined; rest: string } {
  for (const [environment, root] of environments)
    if (path === root || path.startsWith(`${root}/`)) return { environment, rest: path.slice(root.length) }
  return { environment: undefined, rest: path }
}
