import { type Static, type TObject, type TProperties, Type as t } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { RequestOptions } from '../../../client/src/index.ts'
import { UsageError } from '../../shared/errors.ts'
import { type ClientOptions, openClient } from '../client.ts'
import { readChapters, type Section, sectionsOf } from '../guide/chapters.ts'
import { fetchDocument, fetchText, type Json } from '../openapi.ts'
import { argumentError, prepareArguments } from './arguments.ts'
import { findLinked, listChapters } from './guide-links.ts'
import { narrowing } from './limit.ts'
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

/** How clients show a tool and when they ask the user before they call it (MCP, ToolAnnotations). */
interface Hints {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

/** Reads what the service itself has written. */
const reads: Hints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}
/** Reads what other people may have written. */
const readsOthers: Hints = { ...reads, openWorldHint: true }
/** Changes the sandbox in a way that cannot be undone there; live data is out of its reach. */
const changes: Hints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: false,
}
const replaces: Hints = { ...changes, idempotentHint: true }

/** How a tool is presented to the agent and its user. */
interface Presentation {
  title: string
  description: string
  annotations: Hints
}

/** Creates a tool from its presentation, its input fields and the function that runs it. */
function tool<F extends TProperties>(shown: Presentation, fields: F, run: Run<Static<TObject<F>>>) {
  const inputSchema = t.Object(fields, { additionalProperties: false })
  const wanted = {
    properties: inputSchema.properties,
    required: inputSchema.required as string[] | undefined,
  }
  const call: Run<unknown> = async (given, session, signal) => {
    const input = prepareArguments(wanted, given)
    if (Value.Check(inputSchema, input)) return run(input, session, signal)
    throw argumentError(wanted, input)
  }
  return { ...shown, inputSchema, call }
}

/** Creates a tool that passes its input unchanged to one sandbox operation. */
const shortcut = (shown: Presentation, id: string, fields: TProperties) =>
  tool(shown, fields, (input: Input, session, signal) =>
    send(session, { sandbox: true, id, input }, { signal }),
  )

async function find({ operations }: Session, wanted: string): Promise<Operation> {
  const found = (await operations()).find(({ id }) => id === wanted)
  if (!found) throw new UsageError(`There is no operation "${wanted}"; list_operations names them`)
  return found
}

/** Names the parameters of an operation that make its response smaller. */
function narrowingOf({ described }: Operation): string {
  const names: string[] = described.parameters
    .filter((one: Json) => one.in === 'query' && one.name !== 'wait')
    .map((one: Json) => `"${one.name}"`)
  return names.length > 0 ? `${names.join(', ')} in "input"` : 'an operation that reads a part of it'
}

/** A call of an operation. */
interface Call {
  sandbox: boolean
  id: string
  input: Input | undefined
}

/** Calls an operation; returns the response envelope with the request id and the status. */
async function send(session: Session, { sandbox, id, input = {} }: Call, more: RequestOptions) {
  const operation = await find(session, id)
  const { path, ...placed } = splitInput(operation, input)
  const client = await openClient({ ...session.options, sandbox })
  const sent = client.request(operation.method, path, { ...placed, ...more })
  const { envelope, response } = await sent.withResponse()
  return {
    request_id: envelope.meta.request_id,
    status: response.status,
    ...envelope,
    [narrowing]: narrowingOf(operation),
  }
}

/** Live data is read only if the person who started the server allows it. */
function requireLiveReads({ mayReadLive }: Session): void {
  if (!mayReadLive)
    throw new UsageError('To read live data, start the server with partnerctl mcp --live-reads')
}

const text = t.Optional(t.String())
const integer = t.Optional(t.Integer())
const operation_id = t.String({ description: 'From list_operations, such as createBooking' })
const input = t.Optional(
  t.Record(t.String(), t.Unknown(), { description: 'Parameters and fields of the body, by name' }),
)

/**
 * Returns how well a section fits a search: each word counts once if the text has it, and more if a heading does. A
 * section with only some of the words is found too, because an agent may ask in a sentence.
 */
function relevanceOf({ chapter, title, text: body }: Section, words: string[]): number {
  const heading = `${chapter} ${title}`.toLowerCase()
  const content = body.toLowerCase()
  const inHeading = words.filter((word) => heading.includes(word)).length
  const inText = words.filter((word) => content.includes(word)).length
  return inHeading * 2 + inText
}

/** The tools by name (decisions §27). */
export const tools = {
  search_guide: tool(
    {
      title: 'Search the guide',
      description: 'Find sections of the guide by two or three keywords, such as "lost response"',
      annotations: reads,
    },
    { query: t.String() },
    async ({ query }) => {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean)
      const sections = readChapters().flatMap((chapter) => sectionsOf(chapter))
      const ranked = sections.map((section) => ({ section, relevance: relevanceOf(section, words) }))
      const found = ranked
        .filter(({ relevance }) => relevance > 0)
        .toSorted((one, other) => other.relevance - one.relevance)
      return { found: found.length, sections: found.slice(0, 5).map(({ section }) => section) }
    },
  ),
  read_guide: tool(
    {
      title: 'Read the guide',
      description: 'Read a chapter of the guide; without a name, list the chapters',
      annotations: reads,
    },
    {
      name: t.Optional(
        t.String({
          description: 'Name of a chapter, or any link in the guide; with #section, only that section',
        }),
      ),
    },
    async ({ name }, { base }, signal) => {
      const wanted = name === undefined ? undefined : findLinked(name, base)
      if (wanted === undefined || 'chapters' in wanted) return { chapters: listChapters() }
      if ('file' in wanted)
        return {
          markdown: await fetchText(wanted.file, signal),
          [narrowing]: '"name" of a part: a chapter, one of its sections, or /openapi/<operationId>.json',
        }
      return wanted
    },
  ),
  list_operations: tool(
    {
      title: 'List the operations',
      description: 'List all operations, with their ids and paths',
      annotations: reads,
    },
    {},
    async (_, { operations }) => ({
      operations: (await operations()).map(({ described: _, ...row }) => row),
    }),
  ),
  describe_operation: tool(
    {
      title: 'Describe an operation',
      description: "Show an operation's parameters, body, responses and errors as an OpenAPI document",
      annotations: reads,
    },
    { operation_id },
    async (given, session) => {
      const { id } = await find(session, given.operation_id)
      return fetchDocument(session.base, `/openapi/${id}.json`)
    },
  ),
  call_sandbox: tool(
    {
      title: 'Call an operation in the sandbox',
      description: "Call an operation in the sandbox, on the key's mock data",
      annotations: changes,
    },
    { operation_id, input, idempotency_key: text },
    ({ operation_id: id, input, idempotency_key: idempotencyKey }, session, signal) =>
      send(session, { sandbox: true, id, input }, { idempotencyKey, signal }),
  ),
  read_live: tool(
    {
      title: 'Read live data',
      description: 'Read live data with an operation that only reads',
      annotations: readsOthers,
    },
    { operation_id, input },
    async (given, session, signal) => {
      requireLiveReads(session)
      const { id, method, isLive } = await find(session, given.operation_id)
      if (method !== 'GET' || !isLive)
        throw new UsageError(`${id} does not read live data; only reads are allowed there`)
      if ((given.input?.wait ?? undefined) !== undefined)
        throw new UsageError('"wait" would take a place among the polls of the product; read without it')
      // An agent's read must not make a product that has stopped reading look alive.
      const call = { sandbox: false, id, input: given.input }
      return send(session, call, { signal, headers: { prefer: 'peek' } })
    },
  ),
  list_requests: shortcut(
    {
      title: 'List your own requests',
      description: "List the key's own requests, and why they failed",
      annotations: reads,
    },
    'listRequests',
    {
      status: text,
      request_id: text,
      since: text,
      per_page: integer,
      cursor: text,
    },
  ),
  get_health: tool(
    {
      title: 'Show what is wrong with the integration',
      description:
        "Learn whether the integration is quiet or broken: findings (such as a position ahead of a feed, or an operation that is always refused), the key's positions in the feeds, counts of the last hour",
      annotations: reads,
    },
    { live: t.Optional(t.Boolean({ description: 'Live data instead of the sandbox' })) },
    async ({ live = false }, session, signal) => {
      if (live) requireLiveReads(session)
      return send(session, { sandbox: !live, id: 'getHealth', input: undefined }, { signal })
    },
  ),
  play_scenario: shortcut(
    {
      title: 'Play a scenario in the sandbox',
      description: 'Play a scenario named by listSandboxScenarios',
      annotations: changes,
    },
    'playSandboxScenario',
    {
      name: t.String(),
      listing_id: integer,
      booking_id: integer,
      count: integer,
      checkin_at: text,
    },
  ),
  set_faults: shortcut(
    {
      title: 'Set the faults of the sandbox',
      description: 'Replace all fault rules of the sandbox',
      annotations: replaces,
    },
    'setSandboxFaults',
    {
      rules: t.Array(t.Record(t.String(), t.Unknown())),
    },
  ),
  move_clock: shortcut(
    {
      title: 'Move the clock of the sandbox',
      description: 'Move the clock of the sandbox forward',
      annotations: changes,
    },
    'advanceSandboxClock',
    {
      advance_seconds: t.Number(),
    },
  ),
  start_certification: shortcut(
    {
      title: 'Start a certification',
      description: 'Certify a product; clears the sandbox',
      annotations: changes,
    },
    'startSandboxCertification',
    {
      profiles: t.Array(t.String()),
      seed: text,
    },
  ),
  get_certification: shortcut(
    {
      title: 'Show a certification',
      description: 'Show a certification and its next step',
      annotations: reads,
    },
    'getSandboxCertification',
    {
      id: t.Integer(),
    },
  ),
}
