import { mkdir, writeFile } from 'node:fs/promises'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/core/config.ts'
import type { AppContext } from '../src/http/context.ts'
import { collectionsFolder, makeCollections } from '../src/pages/docs/collections.ts'
import { openApiDocument } from '../src/pages/docs/openapi.ts'
import { openLog } from '../src/platform/log.ts'
import { Metrics } from '../src/process/metrics.ts'

/**
 * Converts the OpenAPI document into the collections that partners download; run where the image is built, because the
 * converters are not part of it. The routes are only read, so nothing is opened.
 */
const config = readConfig({})
const shared = { config, log: openLog('silent') }
const live = { ...shared, environment: { name: 'live' } } as AppContext
const sandbox = { ...shared, environment: { name: 'sandbox' } } as AppContext
const document = openApiDocument(createApp({ live, sandbox, metrics: new Metrics(() => 0) }), config)
await mkdir(collectionsFolder, { recursive: true })
for (const [name, text] of Object.entries(await makeCollections(document)))
  await writeFile(new URL(name, collectionsFolder), text)
