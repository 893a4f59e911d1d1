import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { afterAll, expect, test } from 'vitest'
import type { Json } from '../../../src/pages/docs/schemas.ts'
import { sharedServices, testApp } from '../../support/app.ts'

const service = await testApp()
const [server] = sharedServices()
const folder = await mkdtemp(join(tmpdir(), 'partner-bruno-'))
afterAll(() => rm(folder, { recursive: true }))

/** Bruno's application imports the collection; its command line runs only the folder that such an import writes. */
const importer = `
const { mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const files = require('@usebruno/filestore')
const format = { format: 'bru' }
const collection = JSON.parse(readFileSync('collection.json', 'utf8'))
const write = (path, text) => writeFileSync('imported/' + path, text)
mkdirSync('imported/environments', { recursive: true })
write('bruno.json', JSON.stringify({ version: '1', name: collection.name, type: 'collection' }))
write('collection.bru', files.stringifyCollection(collection.root, {}, format))
for (const environment of collection.environments)
  write('environments/' + environment.name + '.bru', files.stringifyEnvironment(environment, format))
for (const [index, { name, items }] of collection.items.entries()) {
  mkdirSync('imported/' + name)
  write(name + '/folder.bru', files.stringifyFolder({ meta: { name, seq: index + 1 } }, format))
  for (const item of items)
    write(name + '/' + String(item.seq).padStart(2, '0') + '.bru', files.stringifyRequest(item, format))
}
`

test("each request of the Bruno collection succeeds in Bruno's command line, with only the key entered", async () => {
  const { key } = await service.actor()
  const collection = await (await fetch(`${server.url}/docs/partner-interface.bruno.json`)).text()
  await Bun.write(join(folder, 'collection.json'), collection)
  await Bun.write(join(folder, 'importer.cjs'), importer)
  await $`npm install --no-save --no-audit --no-fund @usebruno/cli@4.1.0`.cwd(folder).quiet()
  await $`node importer.cjs`.cwd(folder).quiet()
  const run = $`node ../node_modules/@usebruno/cli/bin/bru.js run -r --env Sandbox --env-var apiKey=${key} --reporter-json ../results.json`
  const { exitCode } = await run.cwd(join(folder, 'imported')).quiet().nothrow()
  const [{ results }] = await Bun.file(join(folder, 'results.json')).json()
  const outcomes: string[] = results.map(
    ({ suitename, name, response }: Json) => `${response.status} ${suitename ?? name}`,
  )
  const failed = outcomes.filter((outcome) => !outcome.startsWith('2'))
  expect({ exitCode, failed }).toEqual({ exitCode: 0, failed: [] })
  const { items } = JSON.parse(collection)
  expect(outcomes.length).toBe(items.flatMap((one: Json) => one.items).length)
})
