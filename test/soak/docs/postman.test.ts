import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Json } from '../../../src/pages/docs/schemas.ts'
import { sharedServices, testApp } from '../../support/app.ts'

const service = await testApp()
const [server] = sharedServices()
const folder = await mkdtemp(join(tmpdir(), 'partner-collections-'))
afterAll(() => rm(folder, { recursive: true }))

async function readCollection(name: string): Promise<Json> {
  return (await fetch(`${server.url}/docs/partner-interface.${name}.json`)).json()
}

/** A request of a collection: its name, its enabled parameters and its optional headers that are on. */
interface CollectedRequest {
  name: string
  query: string[]
  headers: string[]
}

function postmanRequests(collection: Json): CollectedRequest[] {
  const requests = collection.item.flatMap(({ item }: Json) => item).map(({ request }: Json) => request)
  const isOn = ({ disabled }: Json) => !disabled
  return requests.map(({ method, url, header }: Json) => ({
    name: `${method} /${url.path?.join('/') ?? ''}`,
    query: url.query.filter(isOn).map(({ key }: Json) => key),
    headers: header.filter(isOn).map(({ key }: Json) => key),
  }))
}

test('each request of the Postman collection succeeds in its order, with only the key entered', async () => {
  const { key } = await service.actor()
  const results = join(folder, 'postman.json')
  const address = `${server.url}/docs/partner-interface.postman_collection.json`
  const { exited } = Bun.spawn(
    [
      'node',
      'node_modules/newman/bin/newman.js',
      'run',
      address,
      '--env-var',
      `apiKey=${key}`,
      '--reporters',
      'json',
      '--reporter-json-export',
      results,
    ],
    { stdout: 'ignore', stderr: 'ignore' },
  )
  expect(await exited).toBe(0)
  const { run } = await Bun.file(results).json()
  const outcomes: string[] = run.executions.map(
    ({ item, response }: Json) => `${response?.code} ${item.name}`,
  )
  expect(outcomes.filter((outcome) => !outcome.startsWith('2'))).toEqual([])
  expect(outcomes.length).toBe(postmanRequests(await readCollection('postman_collection')).length)
})
