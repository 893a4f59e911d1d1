import { stringify } from 'safe-stable-stringify'
import type { Deps } from '../deps.ts'
import { DomainError } from '../errors.ts'
import { type Claim, findAnswer, type StoredAnswer, saveAnswer } from '../infra/answers.ts'
import { inTransaction, isUnreachable, type Session } from '../infra/mongo.ts'
import type { Caller } from '../keys/caller.ts'

/** A change that is ready to be made: everything that can be read and checked beforehand was. */
export interface Effect<T> {
  /** Writers that meet on the same documents name the same queue. */
  queue: string
  /** Makes the change within the transaction; may run more than once. */
  run(session: Session): Promise<T>
}

/** The answer to an effect: status and whole envelope. */
export interface EffectAnswer {
  status: 200 | 201
  envelope: object
}

interface OnceContext {
  caller: Caller
  request: Request
  route: string
  set: { status?: number | string; headers: Record<string, string | number | undefined> }
}

/**
 * Answers a create. With an `Idempotency-Key`, the effect, its event and its answer are one transaction,
 * so that a crash leaves all or nothing and every retry gets the first answer byte for byte (decisions §11).
 *
 * @param prepare reads and checks outside of the transaction; not called for a replay
 * @param toAnswer writes the answer from what the effect made
 * @throws DomainError `idempotency_mismatch` when the key was used with another body
 */
export async function answerOnce<T>(
  deps: Deps,
  context: OnceContext,
  prepare: () => Effect<T> | Promise<Effect<T>>,
  toAnswer: (made: T) => EffectAnswer,
): Promise<Response> {
  const { scope, idempotencyKey, sent } = context.caller
  if (idempotencyKey === undefined) {
    const { queue, run } = await prepare()
    const { status, envelope } = toAnswer(await inTransaction(deps.db, queue, run))
    return respond(context, status, JSON.stringify(envelope))
  }
  const endpoint = `${context.request.method} ${context.route}`
  const claim: Claim = { key_id: scope, endpoint, idempotency_key: idempotencyKey }
  // Keyed hashes, because a body may hold a password.
  const fingerprints = deps.secrets.fingerprints(canonical(sent))
  const replay = async () => {
    const stored = await findAnswer(deps.db, claim, deps.clock())
    return stored && respondAgain(context, stored, fingerprints)
  }
  const early = await replay()
  if (early) return early
  const [fingerprint = ''] = fingerprints
  try {
    return await runOnce(deps, context, { claim, fingerprint }, await prepare(), toAnswer)
  } catch (error) {
    if (isUnreachable(error)) throw error
    // An equal request may have finished since: what refuses this one is its answer, or what it created.
    const late = await awaitAnswer(deps, claim)
    if (late) return respondAgain(context, late, fingerprints)
    throw error
  }
}

const majorityWaitMilliseconds = 4000
const lookEveryMilliseconds = 20

/**
 * The answer of an equal request that was faster. This process may learn of it before a majority has it, and then
 * waits: an answer that a failover could take back is not given.
 *
 * @throws DomainError `conflict` with a retry time when the majority does not have it in time
 */
async function awaitAnswer({ db, clock }: Deps, claim: Claim): Promise<StoredAnswer | null> {
  const deadline = Date.now() + majorityWaitMilliseconds
  while (await findAnswer(db, claim, clock(), 'local')) {
    const answer = await findAnswer(db, claim, clock())
    if (answer) return answer
    if (Date.now() > deadline) throw stillRunning()
    await Bun.sleep(lookEveryMilliseconds)
  }
  return null
}

function stillRunning(): DomainError {
  return new DomainError('conflict', 'An equal request is still being carried out; try again', [], 1)
}

/** Makes the effect and keeps its answer, both or neither: where an equal request was faster, neither. */
async function runOnce<T>(
  { db, clock, config }: Deps,
  context: OnceContext,
  { claim, fingerprint }: { claim: Claim; fingerprint: string },
  effect: Effect<T>,
  toAnswer: (made: T) => EffectAnswer,
): Promise<Response> {
  const { status, body } = await inTransaction(db, effect.queue, async (session) => {
    const { status, envelope } = toAnswer(await effect.run(session))
    const now = clock()
    const expires_at = new Date(now.getTime() + config.idempotencyTtlSeconds * 1000)
    const answer = { ...claim, fingerprint, status, body: JSON.stringify(envelope), expires_at }
    await saveAnswer(db, session, answer, now)
    return answer
  })
  return respond(context, status, body)
}

/** Equal for equal JSON, key order apart. */
function canonical(sent: unknown): string {
  return stringify(sent) ?? ''
}

function respondAgain(context: OnceContext, stored: StoredAnswer, fingerprints: string[]): Response {
  if (!fingerprints.includes(stored.fingerprint)) {
    throw new DomainError('idempotency_mismatch', 'This "Idempotency-Key" was used with another body')
  }
  return respond(context, stored.status, stored.body, { 'idempotent-replayed': 'true' })
}

function respond(
  context: OnceContext,
  status: number,
  body: string,
  extra: Record<string, string> = {},
): Response {
  context.set.status = status
  const headers = {
    ...(context.set.headers as Record<string, string>),
    ...extra,
    'content-type': 'application/json',
  }
  return new Response(body, { status, headers })
}
