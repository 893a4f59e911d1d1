// biome-ignore lint/suspicious/noExplicitAny: walks request bodies of any shape
type Tree = any

/** Returns the paths of all scalars in a body, as lists of keys. */
function scalarPaths(value: Tree, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([key, child]) =>
    scalarPaths(child, [...path, Array.isArray(value) ? Number(key) : key]),
  )
}

/** Returns the scalars' paths, but only through the first element of each list, because a list's elements are alike. */
export function sampledPaths(body: Tree): (string | number)[][] {
  return scalarPaths(body).filter((path) => path.every((key) => typeof key === 'string' || key === 0))
}

/** Returns a copy of a body as JSON text, with raw JSON at the given path. */
export function withRawJson(body: Tree, path: (string | number)[], raw: string): string {
  const copy = structuredClone(body)
  const parent = path.slice(0, -1).reduce((node, key) => node[key], copy)
  const mark = `@@${crypto.randomUUID()}@@`
  parent[path.at(-1) as string] = mark
  return JSON.stringify(copy).replace(JSON.stringify(mark), () => raw)
}
