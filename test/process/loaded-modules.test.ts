import { relative } from 'node:path'
import { type ExpectStatic, test } from 'vitest'
import { ownDatabase } from '../support/databases.ts'
import { root, startService } from '../support/processes.ts'

const MONGODB_URL = await ownDatabase()

/** What few use, and loads when it is used, by the start of its path. */
const loadedLater = {
  traces: [
    'src/process/traces.ts',
    'node_modules/@opentelemetry/sdk',
    'node_modules/@opentelemetry/exporter',
  ],
  'the document page': [
    'src/pages/docs/openapi.ts',
    'src/pages/docs/docs-page.ts',
    'node_modules/@elysiajs/swagger',
  ],
  'its script': ['node_modules/@scalar'],
  'the guide': ['src/pages/guide/chapters.ts', 'src/pages/guide/guide-page.ts'],
  highlighting: ['node_modules/highlight.js'],
  'a login at the database': ['node_modules/@mongodb-js/saslprep'],
  'signing a report': ['node_modules/jose'],
  'the command line': [
    'cli',
    'client',
    'node_modules/citty',
    'node_modules/@clack',
    'node_modules/csv-parse',
  ],
  MCP: ['node_modules/@modelcontextprotocol'],
}

test.concurrent('a service that has started has loaded nothing that few use', async ({ expect }) => {
  const service = await startService({ MONGODB_URL }, [], 'test/process/loaded-modules.program.ts')
  const modules = await listModules(expect, service)
  await service.stop()
  const isBelow = (path: string, start: string) =>
    path === start || path.startsWith(`${start}/`) || path.startsWith(`${start}-`)
  const loaded = Object.entries(loadedLater).flatMap(([use, starts]) =>
    modules.filter((path) => starts.some((start) => isBelow(path, start))).map((path) => `${use}: ${path}`),
  )
  expect(modules).toContain('src/app.ts')
  expect(modules).toContain('node_modules/mongoose/lib/index.js')
  expect(loaded).toEqual([])
})

test.concurrent('a supervisor has loaded nothing that serves requests', async ({ expect }) => {
  const supervisor = await startService(
    { MONGODB_URL, WORKERS: '2' },
    [],
    'test/process/loaded-modules.program.ts',
  )
  const modules = await listModules(expect, supervisor)
  await supervisor.end('SIGTERM')
  expect(modules).toContain('src/process/supervisor.ts')
  const serving = modules.filter(
    (path) =>
      path === 'src/app.ts' ||
      path.startsWith('node_modules/mongoose') ||
      path.startsWith('node_modules/elysia'),
  )
  expect(serving).toEqual([])
})

/** Returns the paths of a process's modules, from the project's folder. */
async function listModules(
  expect: ExpectStatic,
  { pid, output }: { pid: number; output(): string },
): Promise<string[]> {
  const told = () =>
    output()
      .split('\n')
      .find((line) => line.startsWith('{"modules"'))
  process.kill(pid, 'SIGUSR2')
  await expect.poll(told, { timeout: 60_000 }).toBeDefined()
  const { modules } = JSON.parse(told() as string) as { modules: string[] }
  return modules.map((path) => relative(root, path))
}
