import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** The tests that a change calls for, in the order in which `bin/test quick` runs them. */
export interface Nearest {
  /** Changed tests, that of the marked lines, and those in the folders that mirror the changed sources and documents. */
  near: string[]
  /** Tests of all routes, if the change may concern them. */
  shared: string[]
  /** Tests of what is changed along with the sources: the client, examples of deployment, programs. */
  far: string[]
}

/** Tests of every route, which notice what a route that is new or changed has forgotten. */
const ofEveryRoute = [
  'test/http/every-route.thorough.test.ts',
  'test/http/fault-pairs.thorough.test.ts',
  'test/security/injection.thorough.test.ts',
  'test/security/schemas.thorough.test.ts',
  'test/platform/mongo/one-shard.thorough.test.ts',
  'test/pages/docs/openapi.thorough.test.ts',
  'test/pages/docs/served.test.ts',
  'test/pages/docs/contract.test.ts',
]

/** What the routes are declared in, and what the tests of every route are given. */
const routeFiles = [
  /^src\/(.+\/)?([a-z]+-)?(routes|schema)\.ts$/,
  /^src\/http\//,
  /^src\/app\.ts$/,
  /^test\/support\/(routes|valid-bodies|fault-pairs)\.ts$/,
  /^test\/scripts\/record-examples\.ts$/,
  /^test\/http\/.+\.txt$/,
  /^fixtures\/examples\//,
]

/** Documents whose tests are in a folder of another name. */
const mirrors: [prefix: RegExp, folder: string][] = [
  [/^docs\/guide\//, 'pages/guide/'],
  [/^docs\//, 'pages/docs/'],
  [/^client\/src\//, 'client/'],
  [/^src\//, ''],
]

/**
 * Returns the tests that a change calls for.
 *
 * @param changed paths from the root of the project; a file may be gone
 */
export function nearestTests(changed: string[]): Nearest {
  const isFar = (path: string) => !/^(src|cli|test|docs)\//.test(path)
  const own = changed.filter((path) => path.endsWith('.test.ts')).flatMap(testsOf)
  // It takes a second, and any change of the sources can move or copy a line that it looks for.
  const ofSources = changed.some((path) => /^(src|cli|client\/src)\//.test(path))
    ? ['test/defects.test.ts']
    : []
  const near = new Set(own.concat(ofSources, changed.filter((path) => !isFar(path)).flatMap(testsOf)))
  const shared = new Set<string>()
  if (changed.some((path) => routeFiles.some((file) => file.test(path))))
    for (const test of ofEveryRoute) shared.add(test)
  const far = new Set(changed.filter(isFar).flatMap(testsOf))
  return {
    near: [...near.difference(shared)],
    shared: [...shared],
    far: [...far.difference(near).difference(shared)],
  }
}

/**
 * Returns the tests of a file: a test itself, or the tests in the folder that mirrors the file's own or, if there is no
 * such folder, its parent's.
 */
function testsOf(path: string): string[] {
  if (path.startsWith('test/soak/')) return []
  if (path.endsWith('.test.ts')) return existsSync(join(root, path)) ? [path] : []
  let mirrored = path
  for (const [prefix, folder] of mirrors)
    if (prefix.test(path)) {
      mirrored = path.replace(prefix, folder)
      break
    }
  let folder = dirname(mirrored)
  while (folder !== '.') {
    const tests = testsIn(join('test', folder))
    if (tests.length > 0) return tests
    folder = dirname(folder)
  }
  return []
}

function testsIn(folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.test.ts'))
  return names.map((name) => join(folder, name))
}
