import { stringify } from 'safe-stable-stringify'
import { DomainError, invalidField } from '../../core/errors.ts'
import { type BatchedWork, runInBatch } from '../../platform/mongo/batches.ts'
import { isDuplicate, isPoolFull, isUnreachable } from '../../platform/mongo/errors.ts'
import type { AppContext } from '../context.ts'
import { jsonContentType } from '../envelope.ts'
import { parsePathId } from '../path-ids.ts'
import { repeatedValues } from '../repeated-headers.ts'
import type { Caller, RequestInput } from '../request.ts'
import type { Claim, StoredResponse } from './model.ts'
import { findStoredResponse, saveResponses } from './store.ts'

/** Status and complete envelope of the response to a unit of work. */
export interface WorkResponse<Envelope extends object> {
  status: 200 | 201
  envelope: Envelope
  /** The guest this response concerns, if any. */
  userId?: number
}

/** The parts of a request's context that {@link runIdempotently} needs. */
export interface IdempotentContext {
  caller: Caller
  sent: RequestInput
  request: Request
  route: string
  params?: Record<string, string>
  set: { status?: number | string; headers: Record<string, string | number | undefined> }
}

/**
 * Carries out a write and returns its response. Without an `Idempotency-Key`, it only prepares and writes. With one:
 *
 * 1. An earlier response to the same request is looked up and replayed.
 * 2. `prepare` does the work's reads and checks. A replay skips them, because its work could not be prepared once more if,
 *    for example, its listing has become inactive.
 * 3. The work, any job it causes and its response are written in one transaction, so a crash leaves either all of them
 *    or none, and every retry gets the first response byte for byte (decisions §11).
 * 4. If that failed, an identical request may have finished first. Its response is replayed too.
 *
 * @param toResponse builds the response from the work's result; may run more than once
 * @throws DomainError `idempotency_mismatch` if the key was used with another body; `conflict` with a retry time if an
 * identical request is still in progress
 */
export async function runIdempotently<T, Envelope extends object>(
  app: AppContext,
  context: IdempotentContext,
  prepare: () => Promise<BatchedWork<object, T>>,
  toResponse: (result: T) => WorkResponse<Envelope>,
): Promise<Envelope> {
  const { idempotencyKey, body } = context.sent
  if (idempotencyKey === undefined) {
    const response = await writeAnswered(app, await prepare(), { toResponse, claim: null })
    return respond(context, response)
  }
  // The hashes are keyed because a body may contain a password.
  const fingerprints = app.secrets.fingerprints(stringify(body) ?? '')
  const [fingerprint = ''] = fingerprints
  const claim = { ...claimOf(app, context, idempotencyKey), fingerprint }
  const earlier = await findStoredResponse(app.db, claim, app.clock(claim.owner_id))
  if (earlier) return replay(context, earlier, fingerprints) as Envelope
  try {
    const response = await writeAnswered(app, await prepare(), { toResponse, claim })
    return respond(context, response)
  } catch (error) {
    if (isUnreachable(error) || isPoolFull(error)) throw error
    // An identical request may have finished first, and its response or its changes may have made this request fail.
    const concurrent = await awaitResponse(app, claim)
    if (concurrent) return replay(context, concurrent, fingerprints) as Envelope
    // The identical request's response may already be gone, because it expired or the sandbox was cleared.
    throw isDuplicate(error) ? stillRunning() : error
  }
}

function claimOf({ claimSecret }: AppContext, context: IdempotentContext, idempotencyKey: string): Claim {
  const { ownerId: owner_id, keyId: key_id } = context.caller
  const endpoint = endpointOf(context)
  const hash = new Bun.CryptoHasher('sha256', claimSecret)
    .update(JSON.stringify([key_id, endpoint, idempotencyKey]))
    .digest('base64url')
  return { _id: `${owner_id}/${hash}`, owner_id, key_id, endpoint }
}

/**
 * Returns the method and the route with its parameters filled in. If the same `Idempotency-Key` is used for another
 * booking, it identifies a different request (decisions §20).
 */
function endpointOf({ request, route, params = {} }: IdempotentContext): string {
  const named = (_: string, name: string) => String(parsePathId(params[name]) ?? params[name])
  return `${request.method} ${route.replace(/:(\w+)/g, named)}`
}

/** A request, and how it is answered. */
interface AnsweredRequest<T, Envelope extends object> {
  request: object
  toResponse: (result: T) => WorkResponse<Envelope>
  /** The claim under which the response is stored; null without an `Idempotency-Key`. */
  claim: (Claim & Pick<StoredResponse, 'fingerprint'>) | null
}

/**
 * Does the work and stores its response in one transaction, together with the work and the responses of other requests
 * that wait for the same turn. Writes nothing if an identical request finishes first.
 */
function writeAnswered<T, Envelope extends object>(
  app: AppContext,
  work: BatchedWork<object, T>,
  answered: Omit<AnsweredRequest<T, Envelope>, 'request'>,
): Promise<WorkResponse<Envelope>> {
  return runInBatch<AnsweredRequest<T, Envelope>, WorkResponse<Envelope>>(app.db, {
    queue: work.queue,
    kind: answeredKind(work.kind),
    request: { request: work.request, ...answered },
    async write(session, members) {
      const results = await work.write(
        session,
        members.map(({ request, trace }) => ({ ...request, trace })),
      )
      const responses = members.map(({ toResponse }, index) => toResponse(results[index] as T))
      const stored: StoredResponse[] = []
      for (const [index, { claim }] of members.entries()) {
        if (!claim) continue
        stored.push(toStored(app, claim, responses[index] as WorkResponse<Envelope>))
      }
      if (stored.length > 0) await saveResponses(app.db, session, stored)
      return responses
    },
  })
}

/** Writing work with its responses is not what the work's own `write` does, so it is of another kind. */
function answeredKind(kind: string | null): string | null {
  return kind === null ? null : `${kind} with their responses`
}

function toStored(
  { clock, config }: AppContext,
  claim: Claim & Pick<StoredResponse, 'fingerprint'>,
  { status, envelope, userId }: WorkResponse<object>,
): StoredResponse {
  const expires_at = new Date(clock(claim.owner_id).getTime() + config.idempotencyTtlSeconds * 1000)
  return { ...claim, status, body: JSON.stringify(envelope), user_id: userId ?? null, expires_at }
}

const majorityWaitMilliseconds = 4000
const pollEveryMilliseconds = 20

/**
 * Returns the response to an identical request that finished first, or null. Waits until a majority has acknowledged
 * the response, so that a response that a failover could roll back is never sent.
 *
 * @throws DomainError `conflict` with a retry time if a majority does not acknowledge the response in time
 */
async function awaitResponse({ db, clock }: AppContext, claim: Claim): Promise<StoredResponse | null> {
  const deadline = Date.now() + majorityWaitMilliseconds
  const now = () => clock(claim.owner_id)
  while (await findStoredResponse(db, claim, now(), 'local')) {
    const response = await findStoredResponse(db, claim, now())
    if (response) return response
    if (Date.now() > deadline) throw stillRunning()
    await Bun.sleep(pollEveryMilliseconds)
  }
  return null
}

function stillRunning(): DomainError {
  return new DomainError('conflict', 'An identical request is still in progress; try again', [], 1)
}

/** Sets the status and returns the envelope, which Elysia checks against that status's schema, as on every route. */
function respond<Envelope extends object>(
  { set }: IdempotentContext,
  { status, envelope }: WorkResponse<Envelope>,
): Envelope {
  set.status = status
  return envelope
}

/** Returns the stored bytes as a `Response`, which Elysia sends unchanged. */
function replay({ set }: IdempotentContext, stored: StoredResponse, fingerprints: string[]): object {
  if (!fingerprints.includes(stored.fingerprint)) {
    throw new DomainError(
      'idempotency_mismatch',
      'This "Idempotency-Key" was used with another body; use a new key',
    )
  }
  const headers = {
    ...(set.headers as Record<string, string>),
    'content-type': jsonContentType,
    'idempotent-replayed': 'true',
  }
  set.status = stored.status
  return new Response(stored.body, { status: stored.status, headers })
}

/** Maximum length of an `Idempotency-Key` in characters. */
export const idempotencyKeyLength = 255

/**
 * Returns a request's `Idempotency-Key`, or undefined if it has none. The header may be sent several times with equal
 * keys.
 *
 * @throws DomainError `validation` if the key is too long, blank or not printable ASCII, or if several different keys
 * were sent (decisions §11)
 */
export function readIdempotencyKey(headers: Headers): string | undefined {
  const keys = new Set(repeatedValues(headers, 'idempotency-key').map(unquote))
  const [key] = keys
  if (keys.size > 1)
    throw invalidKey('must be sent only once, and must not contain a comma followed by a space')
  return key === undefined ? undefined : requireKeyForm(key)
}

/**
 * Returns the key inside the quotes of the form that the IETF draft prescribes (a string of RFC 8941), and any other
 * value as it is.
 *
 * @throws DomainError `validation` if the value begins with a quote but is not exactly one quoted string
 */
function unquote(value: string): string {
  if (!value.startsWith('"')) return value
  const [, quoted] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(value) ?? []
  if (quoted === undefined)
    throw invalidKey(
      'must be exactly one quoted string without a comma followed by a space if it begins with a quote',
    )
  return quoted.replaceAll(/\\(.)/g, '$1')
}

function requireKeyForm(key: string): string {
  if (key.length > idempotencyKeyLength) {
    const message = `"Idempotency-Key" must be at most ${idempotencyKeyLength} characters`
    throw invalidField('Idempotency-Key', message, 'max')
  }
  if (!/^[\x20-\x7e]+$/.test(key) || key.trim() === '')
    throw invalidKey('must be printable ASCII and not blank')
  return key
}

function invalidKey(demand: string): DomainError {
  return invalidField('Idempotency-Key', `"Idempotency-Key" ${demand}`)
}
