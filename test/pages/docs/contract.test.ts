import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { root } from '../../support/processes.ts'
import { keyedRoutes } from '../../support/routes.ts'

const service = await testApp()
const contract = await readFile(join(root, 'docs/contract.md'), 'utf8')

/** A row of the contract's tables of endpoints. */
interface Row {
  methods: string[]
  /** Paths in full, without the names of their parameters. */
  paths: string[]
  /** Ends of paths that begin as one of `paths` does, such as `/cancel` of `…/cancel`. */
  ends: string[]
}

const withoutNames = (path: string) => path.replace(/:\w+|\{\w+\}/g, '{}')

function readRow(line: string): Row {
  const [, cell = ''] = line.split('|')
  const words = [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => code.split(' '))
  return {
    methods: words.filter((word) => /^[A-Z]+$/.test(word)),
    paths: words.filter((word) => word.startsWith('/')).map(withoutNames),
    ends: words.filter((word) => word.startsWith('…')).map((word) => withoutNames(word.slice(1))),
  }
}

const rows = contract
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map(readRow)

function isIn({ methods, paths, ends }: Row, method: string, path: string): boolean {
  if (!methods.includes(method)) return false
  if (paths.includes(path)) return true
  return ends.some((end) => {
    const beginning = path.slice(0, -end.length)
    return path.endsWith(end) && paths.some((other) => other.startsWith(beginning))
  })
}

const inContract = (method: string, path: string) => rows.some((row) => isIn(row, method, withoutNames(path)))

test('docs/contract.md lists every endpoint', () => {
  const live = keyedRoutes(service, '/v1')
  const twins = new Set(live.map(({ method, path }) => `${method} ${path.replace('/v1', '/sandbox')}`))
  const onlySandbox = keyedRoutes(service, '/sandbox').filter(
    ({ method, path }) => !twins.has(`${method} ${path}`),
  )
  const unlisted = [...live, ...onlySandbox].filter(({ method, path }) => !inContract(method, path))
  expect(unlisted.map(({ method, path }) => `${method} ${path}`)).toEqual([])
})
