import { readFile } from 'node:fs/promises'
import { roots } from '../../http/paths.ts'
import type { Json } from './schemas.ts'

/** Collections for partners' HTTP clients, by file name. */
export type Collections = Record<(typeof collectionNames)[number], string>
export const collectionNames = [
  'partner-interface.postman_collection.json',
  'partner-interface.bruno.json',
] as const

/** Placeholder for the service's address, replaced when a collection is served. */
export const baseUrlPlaceholder = 'http://partner-interface.invalid'

/**
 * Returns the document with each operation only once. The operations' addresses start with a variable that initially
 * contains the sandbox's address, where every example works. If a partner sets the variable to the live address, the
 * operations run on live data.
 */
function forOneEnvironment(document: Json): Json {
  const entries = Object.entries(document.paths).filter(([path]) => path.startsWith(roots.sandbox))
  const paths = Object.fromEntries(
    entries.map(([path, item]) => [
      path.slice(roots.sandbox.length) || '/',
      withLiveTags(item, document, path),
    ]),
  )
  return { ...document, servers: [{ url: `${baseUrlPlaceholder}${roots.sandbox}` }], paths }
}

function withLiveTags(item: Json, { paths }: Json, path: string): Json {
  const live = paths[path.replace(roots.sandbox, roots.live)] ?? {}
  return Object.fromEntries(
    Object.entries(item as Record<string, Json>).map(([method, operation]) => [
      method,
      { ...operation, ...(live[method] ? { tags: live[method].tags, summary: live[method].summary } : {}) },
    ]),
  )
}

/** Converts the document to collections with the HTTP clients' own tools. */
export async function makeCollections(document: Json): Promise<Collections> {
  const one = forOneEnvironment(document)
  const [postman, bruno] = await Promise.all([toPostman(one), toBruno(one)])
  return {
    'partner-interface.postman_collection.json': JSON.stringify(postman, null, 2),
    'partner-interface.bruno.json': JSON.stringify(bruno, null, 2),
  }
}

async function toPostman(document: Json): Promise<Json> {
  const { default: converter } = (await import('openapi-to-postmanv2')) as Json
  const options = {
    folderStrategy: 'Tags',
    requestParametersResolution: 'Example',
    exampleParametersResolution: 'Example',
    requestNameSource: 'Fallback',
    includeAuthInfoInExample: false,
  }
  const data = JSON.stringify(document)
  const { promise, resolve, reject } = Promise.withResolvers<Json>()
  converter.convert({ type: 'string', data }, options, (error: Error | null, result: Json) => {
    if (error || !result.result) reject(error ?? new Error(result.reason))
    else resolve(result.output[0].data)
  })
  return promise
}

async function toBruno(document: Json): Promise<Json> {
  const { openApiToBruno } = (await import('@usebruno/converters' as string)) as Json
  return openApiToBruno(document)
}

/**
 * Loads the collections that the build produced. If any is missing, generates all of them with the HTTP clients' tools.
 */
export async function loadCollections(document: () => Json, publicUrl: string): Promise<Collections> {
  const stored = await Promise.all(
    collectionNames.map(async (name) => [name, await readFile(new URL(name, downloadsFolder), 'utf8')]),
  ).catch(() => null)
  const collections = stored ? (Object.fromEntries(stored) as Collections) : await makeCollections(document())
  return Object.fromEntries(
    Object.entries(collections).map(([name, text]) => [name, text.replaceAll(baseUrlPlaceholder, publicUrl)]),
  ) as Collections
}

export const clientPackageName = 'partner-interface-client.tgz'

/** Folder of downloads for partners. The image build puts them here because the image lacks the tools to build them. */
export const downloadsFolder = new URL('../../../downloads/', import.meta.url)

/** Loads the client package for `npm install <address>`. Compiles and packs it if the build did not. */
export async function loadClientPackage(): Promise<Uint8Array<ArrayBuffer>> {
  const built = await readFile(new URL(clientPackageName, downloadsFolder)).catch(() => null)
  if (built) return new Uint8Array(built)
  const { packClient } = await import('../../../client/scripts/pack.ts')
  return packClient()
}
