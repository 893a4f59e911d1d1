import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Glob } from 'bun'
import type { Schema } from 'mongoose'
import { expect, test } from 'vitest'
import { models } from '../../src/operations/release.ts'
import { testApp } from '../support/app.ts'
import { root } from '../support/processes.ts'

const service = await testApp()

/** Returns the table's rows. The first cell is the collection, the second its owner, the last its retention time. */
async function rowsOfTable(): Promise<string[][]> {
  const text = await readFile(join(root, 'docs/data-model.md'), 'utf8')
  const rows = text.split('\n').filter((line) => line.startsWith('| `'))
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

test('every model is in the `models.ts` of its neighbourhood', async () => {
  const registered = new Set<unknown>(models)
  const unregistered: string[] = []
  for await (const file of new Glob('*/**/*.ts').scan(join(root, 'src'))) {
    const text = await readFile(join(root, 'src', file), 'utf8')
    for (const [, name = ''] of text.matchAll(/^export const (\w+) = modelOf\b/gm)) {
      const { [name]: model } = await import(join(root, 'src', file))
      if (!registered.has(model)) unregistered.push(`${name} of src/${file}`)
    }
  }
  expect(unregistered).toEqual([])
})

test('docs/data-model.md lists every collection, and the folders it names exist', async () => {
  const rows = await rowsOfTable()
  const collections = models.map((model) => model(service.live.db).collection.name)
  expect(rows.map(([name]) => name).sort()).toEqual(collections.sort())
  expect(rows.filter(([, owner]) => !existsSync(join(root, owner as string)))).toEqual([])
})

test('exactly the collections with an owner_id, and the host clocks, are declared to belong to an owner', () => {
  const namesOf = (list: typeof models) => list.map((model) => model(service.live.db).collection.name).sort()
  const withOwnerId = models.filter((model) => 'owner_id' in model(service.live.db).schema.paths)
  expect({
    byOwnerId: namesOf(models.filter(({ owner }) => owner === 'owner_id')),
    byId: namesOf(models.filter(({ owner }) => owner === '_id')),
  }).toEqual({ byOwnerId: namesOf(withOwnerId), byId: ['host_clocks'] })
})

test('exactly the collections that docs/data-model.md describes as expiring have an expiry index', async () => {
  const expiring = models
    .map((model) => model(service.live.db))
    .filter(({ schema }) =>
      (schema.indexes() as [object, { expireAfterSeconds?: number }][]).some(
        ([, { expireAfterSeconds }]) => expireAfterSeconds !== undefined,
      ),
    )
  const timed = (await rowsOfTable()).filter(([, , , , stays]) =>
    /\d+ (days|hours)|_SECONDS/.test(stays as string),
  )
  expect(timed.map(([name]) => name).sort()).toEqual(expiring.map(({ collection }) => collection.name).sort())
})

test('docs/operations.md states for every field of every collection whether it belongs to a guest', async () => {
  const text = await readFile(join(root, 'docs/operations.md'), 'utf8')
  const page = text.split('## A guest asks for their data')[1]?.split('\n## ')[0] ?? ''
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  const listed = rows.map((row) => {
    const [, name = '', own = '', others = ''] = row.split('|')
    return [
      name.replaceAll('`', '').trim(),
      [...`${own}${others}`.matchAll(/`(\w+)`/g)].map(([, field]) => field).sort(),
    ]
  })
  const stored = models.map((model) => {
    const { collection, schema } = model(service.live.db)
    const fields = Object.keys((schema as Schema).paths).map((path) => path.split('.')[0])
    return [collection.name, [...new Set(fields)].filter((field) => field !== '_id').sort()]
  })
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(stored))
})

test('docs/operations.md says how every collection with an owner is sharded', async () => {
  const text = await readFile(join(root, 'docs/operations.md'), 'utf8')
  const [, section = ''] = /^## Sharding$([\s\S]*?)^## /m.exec(text) ?? []
  const cells = section.split('\n').map((line) => line.split('|')[1] ?? '')
  const sharded = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name))
  const owned = models.filter(({ owner }) => owner !== undefined)
  const names = owned.map((model) => model(service.live.db).collection.name)
  expect(names.filter((name) => !sharded.includes(name))).toEqual([])
})
