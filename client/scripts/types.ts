import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString, type OpenAPI3, stringToAST } from 'openapi-typescript'
import type ts from 'typescript'
import { splitRoot } from '../../src/http/roots.ts'
import { readDocument } from './document.ts'

/**
 * Generates the client's types and the list of operations with an `Idempotency-Key` from the OpenAPI document. With
 * `--check`, compares them with the existing file instead and exits with 1 if they differ. Enums in responses also
 * accept unknown strings, because later versions of the service may add values. Enums in requests do not.
 */
const target = new URL('../src/api.ts', import.meta.url)
const isOpen = 'x-open-words'

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
type Json = any

/**
 * Keeps the parts of the document that the client's types need: one path for both environments, and only successful
 * responses. Drops headers, hints and examples.
 */
function slim({ paths, components, webhooks: _, ...document }: Json): Json {
  const twins = new Set(Object.keys(paths).filter((path) => path.startsWith('/v1/')))
  const kept = Object.entries<Json>(paths).filter(
    ([path]) => !twins.has(path.replace(/^\/sandbox\//, '/v1/')) || twins.has(path),
  )
  for (const [, methods] of kept)
    for (const operation of Object.values<Json>(methods)) {
      operation.responses = Object.fromEntries(
        Object.entries<Json>(operation.responses)
          .filter(([status]) => status < '300')
          .map(([status, { headers: _, ...response }]) => [status, response]),
      )
      openWords(operation.responses, components.schemas, new Set())
    }
  return dropExamples({
    ...document,
    paths: Object.fromEntries(kept),
    components: { schemas: components.schemas },
  })
}

function openWords(node: Json, schemas: Json, seen: Set<unknown>): void {
  if (typeof node !== 'object' || node === null || seen.has(node)) return
  seen.add(node)
  if (node.type === 'string' && node.enum?.length > 1) node[isOpen] = true
  const name = node.$ref?.split('/').at(-1)
  if (name) openWords(schemas[name], schemas, seen)
  for (const child of Object.values(node)) openWords(child, schemas, seen)
}

function dropExamples(node: Json): Json {
  if (Array.isArray(node)) return node.map(dropExamples)
  if (typeof node !== 'object' || node === null) return node
  const kept = Object.entries(node).filter(([name]) => name !== 'example' && name !== 'examples')
  return Object.fromEntries(kept.map(([name, child]) => [name, dropExamples(child)]))
}

function openUnion(schema: Json): ts.TypeNode | undefined {
  if (!schema[isOpen]) return undefined
  const words = schema.enum.map((word: string) => JSON.stringify(word)).join(' | ')
  const [alias] = stringToAST(`type Words = ${words} | (string & {})`) as ts.TypeAliasDeclaration[]
  return alias?.type
}

/** Returns the operations that accept an `Idempotency-Key`, such as `POST /users`. */
function keyedOperations({ paths }: Json): string[] {
  const keyed = Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods)
      .filter(([, { parameters }]) => parameters.some(({ name }: Json) => name === 'Idempotency-Key'))
      .map(([method]) => `${method.toUpperCase()} ${splitRoot(path).rest}`),
  )
  return [...new Set(keyed)]
}

const document = readDocument()
const ast = await openapiTS(slim(document) as OpenAPI3, {
  transform: openUnion,
  defaultNonNullable: false,
})
const text = `// Generated from the OpenAPI document: \`bin/bun run client:types\`.
/** The operations that accept an \`Idempotency-Key\`. */
export const keyedOperations: readonly string[] = ${JSON.stringify(keyedOperations(document), null, 4)};
${astToString(ast)}`
if (!process.argv.includes('--check')) await writeFile(target, text)
else if ((await readFile(target, 'utf8').catch(() => '')) !== text) {
  console.error('client/src/api.ts is not what the OpenAPI document says: run bin/bun run client:types')
  process.exit(1)
}
process.exit(0)
