import { stringify } from 'safe-stable-stringify'
import { DomainError } from '../core/errors.ts'
import { currentTraceparent } from '../core/trace.ts'
import type { Session } from '../platform/mongo/connection.ts'
import { isDuplicate, isPoolFull, isUnreachable } from '../platform/mongo/errors.ts'
import { Batches, inTransaction, type Traced } from '../platform/mongo/turns/transactions.ts'
import { jsonContentType } from './answer/envelope.ts'
import type { AppContext } from './context.ts'
import type { Claim, StoredResponse } from './idempotency/model.ts'
import {
  deleteExpiredResponse,
  findStoredResponse,
  findUnconfirmedResponse,
  saveResponses,
} from './idempotency/store.ts'
import type { Accepted } from './request.ts'
import type { Write } from './write.ts'

/*
 * The way of a write that a route declares, with the function that takes each step. Steps 1 and 2 run at once:
 *
 *   1. earlier   findStoredResponse    an earlier response to the same request is replayed, and the way ends here
 *                WriteAnswer.repeated  the same for a route that knows a repetition by what was sent
 *   2. prepare   WriteAnswer.input     the route says what the write is prepared from
 *                Write.prepare         the feature reads and checks everything that needs no transaction
 *   3. admitted  Accepted.admitted     a request that was begun early waits until it is admitted: from here on, there are
 *                                      effects
 *   4. ensure    Write.ensure          the feature creates what the transaction must find
 *   5. turn      Writer.takeTurn       waits in the queue of `Write.queue`: `Batches.run` if the write is shared, otherwise
 *                                      `inTransaction`; the transaction begins
 *   6. write     Write.write           the feature writes
 *   7. respond   WriteAnswer.respond   the route builds the response
 *   8. store     saveResponses         the response is stored for replays
 *   9. commit    turns/transactions    a majority acknowledges; then the route's `afterCommit`
 *
 * A replay is answered even if it could not be prepared once more because, for example, its listing has become inactive:
 * what step 2 returns or throws is then thrown away.
 *
 * Step 8 is that of an `Idempotency-Key`; without one, a write goes the same way without it. Nothing is replayed wrongly
 * or carried out twice because 6 to 8 are one transaction.
 *
 * A write that no route declares, such as one of a scenario, goes through 2, 4, 5 and 6 by `carryOut` (write.ts).
 */

/** Status and complete envelope of the response to a write. */
export interface WriteResponse<Envelope extends object = object> {
  status: 200 | 201
  envelope: Envelope
  /** The guest this response concerns, if any. */
  userId?: number
}

/** How the request of a route is answered by a declared write. */
export interface WriteAnswer<Request, Input, Result, Envelope extends object = object> {
  /** Returns what the write is prepared from. Changes nothing, like `Write.prepare`. */
  input(request: Request): Input | Promise<Input>
  /**
   * Returns the result of an earlier request that this one repeats, and which therefore answers it; null if there is none.
   * For a write that knows a repetition by what was sent (decisions §10). Its route takes no `Idempotency-Key`.
   */
  repeated?(request: Request): Promise<Result | null>
  /** Returns the response, which is stored in the write's transaction. May run more than once. */
  respond(request: Request, result: Result): WriteResponse<Envelope>
  /** Called once the write is committed; a replay does not call it. */
  afterCommit?(request: Request, result: Result): void
}

/** The parts of a request that a writer needs. */
type WritingRequest = Pick<Accepted, 'caller' | 'sent' | 'request' | 'route' | 'params' | 'set' | 'admitted'>

/** The claim under which a response is stored; null without an `Idempotency-Key`. */
type NewClaim = (Claim & Pick<StoredResponse, 'fingerprint'>) | null

/** The claim of a request with an `Idempotency-Key`, and its fingerprints by all secrets. */
interface Claiming {
  claim: Claim & Pick<StoredResponse, 'fingerprint'>
  fingerprints: string[]
}

/** A prepared write, and how its request is answered. */
interface AnsweredWrite<Request, Result> {
  prepared: Request
  respond: (result: Result) => WriteResponse
  claim: NewClaim
}

/** What a transaction has written, and its response. */
interface Written<Result> {
  result: Result
  response: WriteResponse
}

/**
 * Carries out the writes of one kind that requests ask for, in one environment, with or without an `Idempotency-Key`: the
 * pipeline's door into a transaction. A route declares it with a {@link WriteAnswer}.
 */
export class Writer<Input, Request, Result> {
  private readonly batches: Batches<number, AnsweredWrite<Request, Result>, Written<Result>>

  constructor(
    private readonly app: AppContext,
    private readonly declared: Write<AppContext, Input, Request, Result>,
  ) {
    this.batches = new Batches(app.db, (session, ownerId, requests) =>
      this.writeAnswered(session, ownerId, requests),
    )
  }

  /**
   * Carries out a request's write and returns its response. With an `Idempotency-Key`:
   *
   * - The changes, the jobs they cause and the response are written in one transaction, so a crash leaves either all of
   *   them or none, and every retry gets the first response byte for byte (decisions §11).
   * - If the write failed, an identical request may have finished first. Its response is replayed too.
   *
   * @throws DomainError `idempotency_mismatch` if the key was used with another body; `conflict` with a retry time if an
   * identical request is still in progress
   */
  async answer<R extends WritingRequest, Envelope extends object>(
    request: R,
    answer: WriteAnswer<R, Input, Result, Envelope>,
  ): Promise<Envelope | Response> {
    const { app } = this
    const preparing = this.prepare(request, answer)
    if (answer.repeated) return this.answerUnlessRepeated(request, answer, preparing)
    const claiming = claimingOf(app, request)
    if (claiming === null) return this.writeAtTurn(request, answer, { preparing, claim: null })
    const { claim, fingerprints } = claiming
    // A replay needs no preparation, and nobody may ever look at what it has thrown.
    preparing.catch(() => {})
    const earlier = await findStoredResponse(app.db, claim)
    await request.admitted()
    if (earlier && (await isKept(app, earlier))) return replay(request, earlier, fingerprints)
    try {
      return await this.writeAtTurn(request, answer, { preparing, claim })
    } catch (error) {
      if (isUnreachable(error) || isPoolFull(error)) throw error
      // An identical request may have finished first, and its response or its changes may have made this request fail.
      const concurrent = await awaitResponse(app, claim)
      if (concurrent) return replay(request, concurrent, fingerprints)
      // The identical request's response may already be gone, because it expired or the sandbox was cleared.
      throw isDuplicate(error) ? stillRunning() : error
    }
  }

  private async prepare<R extends WritingRequest>(
    request: R,
    answer: Pick<WriteAnswer<R, Input, Result>, 'input'>,
  ): Promise<Request> {
    const input = await answer.input(request)
    return this.declared.prepare(this.app, request.caller.ownerId, input)
  }

  /** Answers a request by what it repeats or, if it repeats nothing, by its write. */
  private async answerUnlessRepeated<R extends WritingRequest, Envelope extends object>(
    request: R,
    answer: WriteAnswer<R, Input, Result, Envelope>,
    preparing: Promise<Request>,
  ): Promise<Envelope> {
    preparing.catch(() => {})
    const repeated = await answer.repeated?.(request)
    await request.admitted()
    if (repeated == null) return this.writeAtTurn(request, answer, { preparing, claim: null })
    const response = answer.respond(request, repeated)
    request.set.status = response.status
    return response.envelope
  }

  /** Carries out a write at its turn. Writes nothing if an identical request finishes first. */
  private async writeAtTurn<R extends WritingRequest, Envelope extends object>(
    request: R,
    answer: WriteAnswer<R, Input, Result, Envelope>,
    { preparing, claim }: { preparing: Promise<Request>; claim: NewClaim },
  ): Promise<Envelope> {
    const { ownerId } = request.caller
    const prepared = await preparing
    // If this breaks: a refused request creates a booking
    await request.admitted()
    await this.declared.ensure?.(this.app, ownerId, prepared)
    const respond = (result: Result) => answer.respond(request, result)
    const { result, response } = await this.takeTurn(ownerId, { prepared, respond, claim })
    answer.afterCommit?.(request, result)
    request.set.status = response.status
    return response.envelope as Envelope
  }

  /** Writes in a transaction, which a shared write shares with those that wait for the same turn. */
  private takeTurn(ownerId: number, request: AnsweredWrite<Request, Result>): Promise<Written<Result>> {
    const queue = this.declared.queue(ownerId, request.prepared)
    if (this.declared.isShared) return this.batches.run({ queue, shared: ownerId, request })
    return inTransaction(this.app.db, queue, async (session) => {
      const traced = { ...request, trace: currentTraceparent() }
      const [written] = await this.writeAnswered(session, ownerId, [traced])
      return written as Written<Result>
    })
  }

  /** Writes requests, and stores the responses of those that have a claim, within one transaction. */
  private async writeAnswered(
    session: Session,
    ownerId: number,
    requests: Traced<AnsweredWrite<Request, Result>>[],
  ): Promise<Written<Result>[]> {
    const { app, declared } = this
    const prepared = requests.map((request) => ({ ...request.prepared, trace: request.trace }))
    let results: Result[] = []
    if (declared.isShared) results = await declared.write(app, session, ownerId, prepared)
    else for (const one of prepared) results.push(await declared.write(app, session, ownerId, one))
    const written: Written<Result>[] = []
    const stored: StoredResponse[] = []
    for (const [index, { respond, claim }] of requests.entries()) {
      const result = results[index] as Result
      const response = respond(result)
      written.push({ result, response })
      // If this breaks: a request with an Idempotency-Key is carried out again
      if (claim) stored.push(toStored(app, claim, response))
    }
    if (stored.length > 0) await saveResponses(app.db, session, stored)
    return written
  }
}

/** Returns the claim of a request; null without an `Idempotency-Key`. */
function claimingOf(app: AppContext, request: WritingRequest): Claiming | null {
  const { idempotencyKey, body } = request.sent
  if (idempotencyKey === undefined) return null
  // The hashes are keyed because a body may contain a password.
  const fingerprints = app.secrets.fingerprints(stringify(body) ?? '')
  const [fingerprint = ''] = fingerprints
  return { claim: { ...claimOf(app, request, idempotencyKey), fingerprint }, fingerprints }
}

function claimOf({ claimSecret }: AppContext, context: WritingRequest, idempotencyKey: string): Claim {
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
function endpointOf({ request, route, params }: WritingRequest): string {
  const values = new Map(Object.entries(params))
  const named = (_: string, name: string) => String(values.get(name))
  return `${request.method} ${route.replace(/:(\w+)/g, named)}`
}

function toStored(
  { clock, config }: AppContext,
  claim: Claim & Pick<StoredResponse, 'fingerprint'>,
  { status, envelope, userId }: WriteResponse,
): StoredResponse {
  const expires_at = new Date(clock(claim.owner_id).getTime() + config.idempotencyTtlSeconds * 1000)
  return { ...claim, status, body: JSON.stringify(envelope), user_id: userId ?? null, expires_at }
}

/** Returns true if a response is still kept. Otherwise deletes it, to free its claim. */
async function isKept({ db, clock }: AppContext, response: StoredResponse): Promise<boolean> {
  const now = clock(response.owner_id)
  if (response.expires_at > now) return true
  await deleteExpiredResponse(db, response, now)
  return false
}

const majorityWaitMilliseconds = 4000
const pollEveryMilliseconds = 20

/**
 * Returns the response to an identical request that finished first, or null. Waits until a majority has acknowledged
 * the response, so that a response that a failover could roll back is never sent.
 *
 * @throws DomainError `conflict` with a retry time if a majority does not acknowledge the response in time
 */
async function awaitResponse(app: AppContext, claim: Claim): Promise<StoredResponse | null> {
  const { db } = app
  const deadline = Date.now() + majorityWaitMilliseconds
  for (;;) {
    const unconfirmed = await findUnconfirmedResponse(db, claim)
    if (!unconfirmed || !(await isKept(app, unconfirmed))) return null
    const response = await findStoredResponse(db, claim)
    if (response && (await isKept(app, response))) return response
    if (Date.now() > deadline) throw stillRunning()
    await Bun.sleep(pollEveryMilliseconds)
  }
}

function stillRunning(): DomainError {
  return new DomainError('conflict', 'An identical request is still in progress; try again', [], 1)
}

/** Returns the stored bytes as a `Response`, which Elysia sends unchanged. */
function replay({ set }: WritingRequest, stored: StoredResponse, fingerprints: string[]): Response {
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
