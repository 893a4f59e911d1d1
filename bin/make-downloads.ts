import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/core/config.ts'
import type { AppContext } from '../src/http/context.ts'
import { makeCollections } from '../src/pages/docs/collections.ts'
import { openApiDocument } from '../src/pages/docs/openapi.ts'
import { downloadsFolder } from '../src/pages/downloads/files.ts'
import { openLog } from '../src/platform/log.ts'
import { Metrics } from '../src/process/metrics.ts'
import type { SandboxContext } from '../src/sandbox/sandbox-context.ts'

/**
 * Generates the files that partners download: the collections, from the OpenAPI document, and the packages. Runs
 * while the image is built, because the image does not contain the tools. Opens no database, because it describes the
 * routes but never calls them.
 */
const packageBuilder = fileURLToPath(new URL('../packages/build.ts', import.meta.url))
const config = readConfig({})
const shared = { config, log: openLog('silent') }
const live = { ...shared, environment: { name: 'live' } } as AppContext
const sandbox = { ...shared, environment: { name: 'sandbox' } } as SandboxContext
const document = openApiDocument(createApp({ live, sandbox, metrics: new Metrics(() => 0) }), config)
await mkdir(downloadsFolder, { recursive: true })
for (const [name, text] of Object.entries(await makeCollections(document)))
  await writeFile(join(downloadsFolder, name), text)
await Bun.$`${process.execPath} ${packageBuilder} ${downloadsFolder}`
