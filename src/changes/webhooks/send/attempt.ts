import { currentTrace } from '../../../core/trace.ts'
import type { AppContext } from '../../../http/context.ts'
import { userAgentOf } from '../../../http/user-agent.ts'
import type { Db } from '../../../platform/mongo/connection.ts'
import { freshTurn, type Turn } from '../../../platform/outgoing/turns.ts'
import type { SecretBox } from '../../../platform/secrets/secret-box.ts'
import { endAttempts, type Outcome } from '../attempts-store.ts'
import { deliveryId } from '../deliveries-store.ts'
import { type HintFault, isHintEvent } from '../hint.ts'
import type { Webhook, WebhookDelivery } from '../model.ts'
import { makeWebhookSecret, signatureHeaders } from '../signature.ts'
import { clearRecordedFailure, recordFirstFailure } from '../store.ts'
import { turnOffForService, undeliveredFrom } from '../turn-off.ts'
import { type PostRequest, type PostResult, postHint } from './post.ts'
import { offAfterFailure } from './state.ts'
import { awaitTurn, awaitTurnForever, type OriginContext } from './turns.ts'

/** The context for posting a hint. */
export type PostContext = Pick<AppContext, 'db' | 'clock' | 'config' | 'secrets'> & OriginContext
/** The context of an attempt. */
export type AttemptContext = PostContext & {
  /** Returns the fault to be injected into a hint's first attempt, or null. Absent on live data. */
  hintFaultOf?: (ownerId: number, event: WebhookDelivery['event']) => Promise<HintFault | null>
  /**
   * Loads the sandbox clocks that other processes have moved, of the given sandboxes or of all. Absent on live data.
   */
  refreshClocks?: (hostIds?: number[]) => Promise<void>
}

/** Stores the outcome of an attempt. */
export type AttemptWriter = (outcome: Outcome) => Promise<void>

/**
 * How long outcomes are collected, across all webhooks, before they are stored together. Storing them one by
 * one would keep the database busier with hints than with bookings.
 */
const batchMilliseconds = 10
/** Maximum number of outcomes that are stored together. */
const outcomesPerBatch = 500

/** Outcomes that are stored together; `stored` settles when they are, or when they cannot be. */
interface OutcomeBatch {
  outcomes: Outcome[]
  stored: PromiseWithResolvers<void>
}

/**
 * Returns a function that stores attempts' outcomes in a database.
 *
 * Unlike those of a `BufferedWriter`, batches do not wait for each other, because a dead process's transaction may block
 * a host's deliveries for seconds. An outcome that cannot be stored is not stored later either, because by then another
 * process may have attempted the delivery again; its own attempt gets the error.
 */
export function attemptWriter(db: Db): AttemptWriter {
  let collected: OutcomeBatch | undefined
  const beginBatch = (): OutcomeBatch => {
    const batch = { outcomes: [], stored: Promise.withResolvers<void>() }
    const store = () => {
      if (collected === batch) collected = undefined
      endAttempts(db, batch.outcomes).then(batch.stored.resolve, batch.stored.reject)
    }
    setTimeout(store, batchMilliseconds)
    return batch
  }
  return (outcome) => {
    collected ??= beginBatch()
    const { outcomes, stored } = collected
    outcomes.push(outcome)
    // The next outcome begins a new batch.
    if (outcomes.length === outcomesPerBatch) collected = undefined
    return stored.promise
  }
}

/** An attempt that is stored as begun. */
export interface PlannedAttempt {
  webhook: Webhook
  delivery: WebhookDelivery
  turn: Turn
  /** Returns true if the webhook may have a recorded failure, which a success must clear. */
  mayBeFailing: () => boolean
}

/**
 * Attempts a delivery once and stores the outcome: delivered, to be retried, or given up. Returns false if the attempt
 * counts as a failure of the webhook. Turns off a webhook that responds 410 or has been failing for five days
 * (decisions §21).
 */
export async function attempt(
  app: AttemptContext,
  write: AttemptWriter,
  { webhook, delivery, turn, mayBeFailing }: PlannedAttempt,
): Promise<boolean> {
  const { db, clock } = app
  const { _id, owner_id, event, attempts } = delivery
  const { result, extraStatus, fault } = await post(app, { webhook, delivery, turn })
  currentTrace()?.note?.({ status: result?.status })
  const faultFields = fault
    ? { [fault.isHidden ? 'hidden_fault' : 'fault']: fault.fault, extra_status: extraStatus }
    : {}
  const seen = { _id, owner_id, ...(result ? fieldsOf(result) : {}), ...faultFields }
  // A resent test counts as neither a success nor a failure.
  if (event === 'webhook.test') {
    const status = result && isSuccess(result) ? 'delivered' : 'failed'
    await write({ ...seen, status, next_attempt_at: null })
    return true
  }
  if (!result || isSuccess(result)) {
    await write({ ...seen, status: 'delivered', next_attempt_at: null })
    if (result && mayBeFailing()) await clearRecordedFailure(db, webhook)
    return true
  }
  // The clock may have been moved during the attempt.
  await app.refreshClocks?.([owner_id])
  const now = clock(owner_id)
  if (!webhook.failing_since)
    await recordFirstFailure(db, webhook, {
      failing_since: now,
      undelivered_since: await undeliveredFrom(db, webhook),
    })
  const next_attempt_at = retryAt(now, attempts, result.retryAfterSeconds)
  await write({ ...seen, status: next_attempt_at ? 'waiting' : 'failed', next_attempt_at })
  const reason = offAfterFailure({ status: result.status, failingSince: webhook.failing_since }, now)
  if (reason) await turnOffForService(app, webhook, reason)
  return false
}

/** The outcome of an attempt's posts. */
interface Posted {
  /** The real post's result; null if a fault suppressed the post. */
  result: PostResult | null
  /** Status of the response to the extra post that a fault added; null if there was none. */
  extraStatus: number | null
}

/** Posts a delivery in the given turn, with the fault that the sandbox's rules select for a first attempt. */
async function post(
  app: AttemptContext,
  { webhook, delivery, turn }: Pick<PlannedAttempt, 'webhook' | 'delivery' | 'turn'>,
): Promise<Posted & { fault: HintFault | null }> {
  try {
    const { owner_id, event, attempts } = delivery
    const mayMeetFault = attempts === 1 && isHintEvent(event)
    const fault = mayMeetFault ? ((await app.hintFaultOf?.(owner_id, event)) ?? null) : null
    if (fault) return { ...(await postWithFault(app, { webhook, delivery, turn }, fault)), fault }
    const result = await postPlanned(app, { webhook, delivery, turn })
    return { result, extraStatus: null, fault: null }
  } finally {
    turn.giveBack()
  }
}

/** Signs and posts a delivery in its turn or, if that was given back or has grown too old, in another one. */
async function postPlanned(
  app: PostContext,
  { webhook, delivery, turn }: Pick<PlannedAttempt, 'webhook' | 'delivery' | 'turn'>,
): Promise<PostResult> {
  const fresh = await freshTurn(turn, () => awaitTurnForever(app, webhook.url))
  return postInTurn(fresh, signPost(app, webhook, delivery))
}

/** Posts a request and ends its turn, which must be fresh. */
export async function postInTurn(turn: Turn, request: PostRequest): Promise<PostResult> {
  turn.begin()
  return postHint({ ...request, onSent: () => turn.sent() }).finally(() => turn.end())
}

/** Returns true for a 2xx response. */
export function isSuccess({ status }: PostResult): boolean {
  return status !== null && status >= 200 && status < 300
}

/** Returns the delivery fields that record a post's result. */
export function fieldsOf({ status, milliseconds, failure, detail }: PostResult) {
  return { response_status: status, milliseconds, error: failure, error_detail: detail }
}

/** Pause after each failed attempt, in seconds (decisions §21). */
const pauses = [5, 300, 1800, 7200, 18_000, 36_000, 50_400]
const maxRetryAfterSeconds = 3600

/**
 * Returns the time of the next attempt after a failed attempt; null if there is no further attempt.
 *
 * @param attempts number of attempts, including the failed attempt
 * @param retryAfterSeconds pause that the response asked for; null if it asked for none
 */
function retryAt(now: Date, attempts: number, retryAfterSeconds: number | null): Date | null {
  const pause = pauses[attempts - 1]
  if (pause === undefined) return null
  const asked = Math.min(retryAfterSeconds ?? 0, maxRetryAfterSeconds)
  return new Date(now.getTime() + Math.max(pause, asked) * 1000)
}

type Postable = Pick<WebhookDelivery, '_id' | 'payload'>

/** Overrides for a post's signing time and secrets. */
interface Signing {
  at?: Date
  secrets?: string[]
}

/**
 * Returns a signed request that posts a delivery. The request continues the current trace, if any. The signature uses
 * the real time, not the sandbox clock's time, because receivers compare the signing time with their own clock.
 */
export function signPost(
  { clock, config, secrets: box }: PostContext,
  webhook: Webhook,
  delivery: Postable,
  { at = clock(), secrets = validSecrets(box, webhook, clock(webhook.owner_id)) }: Signing = {},
): PostRequest {
  const body = JSON.stringify(delivery.payload)
  const trace = currentTrace()
  const headers = {
    'content-type': 'application/json',
    'user-agent': userAgentOf(config),
    ...(trace ? { traceparent: trace.traceparent } : {}),
    ...signatureHeaders({ id: deliveryId(delivery), at, body }, secrets),
  }
  return { url: new URL(webhook.url), headers, body, allowsPrivate: config.webhooksAllowPrivate }
}

/** Returns the secrets that are valid at `now`: two after a rotation, until the previous secret expires. */
function validSecrets(box: SecretBox, webhook: Webhook, now: Date): string[] {
  return webhook.secrets
    .filter(({ ends_at }) => ends_at === null || ends_at > now)
    .map((secret) => box.open(secret))
}

/** Age of the signature on the extra post that the fault `hint_old` adds. */
const oldMilliseconds = 600_000

/**
 * Carries out a delivery's first attempt with a sandbox fault injected (decisions §22). The extra post does not affect
 * the delivery's outcome. It takes a turn of its own and is left out if it gets none within five seconds.
 */
async function postWithFault(
  app: PostContext,
  { webhook, delivery, turn }: Pick<PlannedAttempt, 'webhook' | 'delivery' | 'turn'>,
  { fault, delay_milliseconds }: HintFault,
): Promise<Posted> {
  if (fault === 'hint_lost') return { result: null, extraStatus: null }
  if (fault === 'hint_late') {
    // Others may use the turn while this hint is delayed.
    turn.giveBack()
    await Bun.sleep(delay_milliseconds)
    return { result: await postPlanned(app, { webhook, delivery, turn }), extraStatus: null }
  }
  const earlier = earlierSigning(fault, app.clock())
  const postExtra = async () => {
    const extraTurn = await awaitTurn(app, webhook.url)
    if (!extraTurn) return null
    const { status } = await postInTurn(extraTurn, signPost(app, webhook, delivery, earlier ?? {}))
    return status
  }
  const statusBefore = earlier ? await postExtra() : null
  const result = await postPlanned(app, { webhook, delivery, turn })
  const extraStatus = fault === 'hint_twice' ? await postExtra() : statusBefore
  return { result, extraStatus }
}

/**
 * Returns the signing overrides for the extra post that a fault adds before the real post; null if the fault adds none.
 */
function earlierSigning(fault: HintFault['fault'], now: Date): Signing | null {
  if (fault === 'hint_forged') return { secrets: [makeWebhookSecret()] }
  if (fault === 'hint_old') return { at: new Date(now.getTime() - oldMilliseconds) }
  return null
}
