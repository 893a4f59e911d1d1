import { type Static, type TObject, type TProperties, Type as t } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { RequestOptions } from '../../../client/src/index.ts'
import { UsageError } from '../../shared/errors.ts'
import { type ClientOptions, openClient } from '../client.ts'
import { readChapters, sectionsOf, servedMarkdown } from '../guide/chapters.ts'
import { fetchDocument } from '../openapi.ts'
import { type Operation, splitInput } from './operations.ts'

/** The settings and functions that all tools share. */
export interface Session {
  /** The command-line options. Their key is read only for calls that need it. */
  options: ClientOptions
  mayReadLive: boolean
  /** Address of the service. */
  base: string
  operations(): Promise<Operation[]>
}

type Input = Record<string, unknown>
type Run<I> = (input: I, session: Session, signal: AbortSignal) => Promise<Input>

/** Creates a tool from its MCP description, its input fields and the function that runs it. */
function tool<F extends TProperties>(description: string, fields: F, run: Run<Static<TObject<F>>>) {
  const inputSchema = t.Object(fields, { additionalProperties: false })
  const call: Run<unknown> = async (input, session, signal) => {
    if (Value.Check(inputSchema, input)) return run(input, session, signal)
    const { path, message } = Value.Errors(inputSchema, input).First() ?? {}
    throw new UsageError(`Argument "${path?.slice(1)}": ${message}`)
  }
  return { description, inputSchema, call }
}

/** Creates a tool that passes its input unchanged to one sandbox operation. */
const shortcut = (description: string, id: string, fields: TProperties) =>
  tool(description, fields, (input: Input, session, signal) => send(session, true, id, input, { signal }))

async function find({ operations }: Session, wanted: string): Promise<Operation> {
  const found = (await operations()).find(({ id }) => id === wanted)
  if (!found) throw new UsageError(`There is no operation "${wanted}"; list_operations names them`)
  return found
}

/** Calls an operation; returns the response envelope with the request id and the status. */
async function send(session: Session, sandbox: boolean, id: string, input: Input = {}, more: RequestOptions) {
  const operation = await find(session, id)
  const { path, ...placed } = splitInput(operation, input)
  const client = await openClient({ ...session.options, sandbox })
  const sent = client.request(operation.method, path, { ...placed, ...more })
  const { envelope, response } = await sent.withResponse()
  return { request_id: envelope.meta.request_id, status: response.status, ...envelope }
}

const text = t.Optional(t.String())
const integer = t.Optional(t.Integer())
const operation_id = t.String({ description: 'From list_operations, such as createBooking' })
const input = t.Optional(
  t.Record(t.String(), t.Unknown(), { description: 'Parameters and fields of the body, by name' }),
)

/** The tools by name (decisions §27). */
export const tools = {
  search_guide: tool('Find sections of the guide by words', { query: t.String() }, async ({ query }) => {
    const words = query.toLowerCase().split(/\s+/)
    const found = readChapters()
      .flatMap((chapter) => sectionsOf(chapter))
      .filter((section) => words.every((word) => section.text.toLowerCase().includes(word)))
    return { found: found.length, sections: found.slice(0, 10) }
  }),
  read_guide: tool(
    'Read a chapter of the guide; without a name, list the chapters',
    { name: text },
    async ({ name }, { base }) => {
      const chapters = readChapters()
      if (name === undefined) return { chapters: chapters.map(({ markdown: _, ...shown }) => shown) }
      const chapter = chapters.find((one) => one.name === name)
      if (!chapter) throw new UsageError(`There is no chapter "${name}"`)
      return { markdown: servedMarkdown(chapter, base) }
    },
  ),
  list_operations: tool('List the operations', {}, async (_, { operations }) => ({
    operations: (await operations()).map(({ described: _, ...row }) => row),
  })),
  describe_operation: tool(
    "Show an operation's parameters, body, responses and errors as an OpenAPI document",
    { operation_id },
    async (given, session) => {
      const { id } = await find(session, given.operation_id)
      return fetchDocument(session.base, `/openapi/${id}.json`)
    },
  ),
  call_sandbox: tool(
    "Call an operation in the sandbox, on the key's mock data",
    { operation_id, input, idempotency_key: text },
    ({ idempotency_key: idempotencyKey, ...given }, session, signal) =>
      send(session, true, given.operation_id, given.input, { idempotencyKey, signal }),
  ),
  read_live: tool(
    'Read live data with an operation that only reads',
    { operation_id, input },
    async (given, session, signal) => {
      if (!session.mayReadLive)
        throw new UsageError('To read live data, start the server with partnerctl mcp --live-reads')
      const { id, method, isLive } = await find(session, given.operation_id)
      if (method !== 'GET' || !isLive)
        throw new UsageError(`${id} does not read live data; only reads are allowed there`)
      if (given.input?.wait !== undefined)
        throw new UsageError('"wait" would take a place among the polls of the product; read without it')
      // An agent that looks must not make a silent product look alive.
      return send(session, false, id, given.input, { signal, headers: { prefer: 'peek' } })
    },
  ),
  list_requests: shortcut("List the key's own requests, and why they failed", 'listRequests', {
    ...{ status: text, request_id: text, since: text, per_page: integer, cursor: text },
  }),
  play_scenario: shortcut('Play a scenario named by listSandboxScenarios', 'playSandboxScenario', {
    ...{ name: t.String(), listing_id: integer, booking_id: integer, count: integer, checkin_at: text },
  }),
  set_faults: shortcut('Replace all fault rules of the sandbox', 'setSandboxFaults', {
    rules: t.Array(t.Record(t.String(), t.Unknown())),
  }),
  move_clock: shortcut('Move the clock of the sandbox forward', 'advanceSandboxClock', {
    advance_seconds: t.Number(),
  }),
  start_certification: shortcut('Certify a product; clears the sandbox', 'startSandboxCertification', {
    ...{ profiles: t.Array(t.String()), seed: text },
  }),
  get_certification: shortcut('Show a certification and its next step', 'getSandboxCertification', {
    id: t.Integer(),
  }),
}
