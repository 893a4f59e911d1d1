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

function brunoRequests(collection: Json): CollectedRequest[] {
  const requests = collection.items.flatMap(({ items }: Json) => items).map(({ request }: Json) => request)
  const isOn = ({ enabled }: Json) => enabled
  return requests.map(({ method, url, params, headers }: Json) => ({
    name: `${method} ${url.replace('{{baseUrl}}', '').replace(/\?.*/, '') || '/'}`,
    query: params.filter((one: Json) => isOn(one) && one.type === 'query').map(({ name }: Json) => name),
    headers: headers.filter(isOn).map(({ name }: Json) => name),
  }))
}

const collections = [
  { client: 'Postman', file: 'postman_collection', requestsOf: postmanRequests },
  { client: 'Bruno', file: 'bruno', requestsOf: brunoRequests },
]

test.each(collections)(
  "$client's collection has every operation once, with what is optional switched off",
  async ({ file, requestsOf }) => {
    const requests = requestsOf(await readCollection(file))
    const { body: document } = await service.send('GET', '/openapi.json')
    const documented: CollectedRequest[] = []
    for (const [path, methods] of Object.entries<Json>(document.paths))
      for (const [method, { parameters }] of Object.entries<Json>(methods)) {
        const required = parameters.filter((one: Json) => one.in === 'query' && one.required)
        const short = path.replace('/sandbox', '').replace(/\{(\w+)\}/g, ':$1') || '/'
        if (path.startsWith('/sandbox'))
          documented.push({
            name: `${method.toUpperCase()} ${short}`,
            query: required.map(({ name }: Json) => name),
            headers: [],
          })
      }
    const needsCourse = ['PUT /certifications/:id/state', 'GET /certifications/:id/report']
    const expected = documented.filter(({ name }) => !needsCourse.includes(name))
    const byName = (one: CollectedRequest, other: CollectedRequest) => (one.name < other.name ? -1 : 1)
    const optional = ['Idempotency-Key', 'If-None-Match', 'Prefer']
    const found = requests.map(({ headers, ...request }) => ({
      ...request,
      headers: headers.filter((name) => optional.includes(name)),
    }))
    expect(found.toSorted(byName)).toEqual(expected.toSorted(byName))
  },
)
