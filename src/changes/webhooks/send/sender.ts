/**
 * From a change to the post, a hint passes through six steps:
 *
 * 1. `lookAt` notes the host, because the change stream on the hosts' clocks reports that it has moved.
 * 2. `round` begins the looks at all noted hosts, at least 200 ms after the previous round. `read` reads their webhooks,
 *    clocks, waiting hints and keys together and keeps the webhooks to which something must be done (`state.ts`).
 * 3. `look` handles one host: it turns off the webhooks that must be off, and `choose.ts` looks for the hints of the
 *    others, first those that are stored and due, then the new ones in the feeds.
 * 4. `store` marks the chosen attempts as begun and creates the new hints in one transaction. `begin` starts the
 *    attempts, whose ends may lead to another look at the host.
 * 5. `attempt.ts` makes one attempt: it signs the hint, injects a sandbox's fault, and stores the outcome.
 * 6. `post.ts` posts to a checked address.
 *
 * An alarm (decisions §29) passes through the same steps as a stored hint. The transaction that opens or ends it
 * (`health/alarms/store.ts`) stores a delivery that is due and moves the host's clock, which is reported in step 1. So
 * "hint" means both here, down to the log and the metrics.
 *
 * What is decided is decided without I/O: `state.ts` says what a webhook needs, `sender-state.ts` which hosts are looked
 * at. This file reads, writes and posts, and tells the state what has happened.
 *
 * The other files: `worker.ts` lets one process at a time do this, `new-hints.ts` makes hints of the feeds' rows,
 * `in-flight.ts` has the attempts to one webhook, `turns.ts` limits the posts to an origin, and `../attempts-store.ts`
 * has what is read and written of the deliveries.
 */

import { inTrace, resumeTrace } from '../../../core/trace.ts'
import { findClocks } from '../../../host-clock/change-store.ts'
import type { AppContext } from '../../../http/context.ts'
import { inTransaction } from '../../../platform/mongo/turns/transactions.ts'
import type { Turn } from '../../../platform/outgoing/turns.ts'
import { addHints, beginAttempts, countWaiting } from '../attempts-store.ts'
import { trimDeliveries } from '../deliveries-store.ts'
import { usableKeys } from '../keys.ts'
import type { Webhook, WebhookDelivery } from '../model.ts'
import {
  findEnabledWebhooks,
  findHostsWithWebhooks,
  movePositions,
  type Positions,
  type WebhookId,
} from '../store.ts'
import { turnOffForService } from '../turn-off.ts'
import { type AttemptContext, attempt, attemptWriter, type PlannedAttempt } from './attempt.ts'
import { type ChosenAttempts, chooseAttempts, type SeenWebhook } from './choose.ts'
import { afterEnd, type WebhookAttempts, withBegun, withEnded, withLooked } from './in-flight.ts'
import { hintReader, isBehind } from './new-hints.ts'
import {
  atRest,
  attemptsOf,
  hasNotedHosts,
  type PlannedLook,
  type SenderState,
  withAllNoted,
  withAttempts,
  withDueNoted,
  withListing,
  withLookEnded,
  withLooksBegun,
  withNoted,
  withoutOldAttempts,
  withPlanned,
  withRoundBegun,
  withRoundFailed,
} from './sender-state.ts'
import {
  type Decision,
  decide,
  failingUntil,
  stateOf,
  type WebhookFacts,
  type WebhookState,
} from './state.ts'

/** The context for sending hints. */
export type SenderContext = AttemptContext & Pick<AppContext, 'liveDb' | 'log' | 'metrics'>

/** Minimum interval between rounds, so that changes in quick succession are announced together. */
const roundMilliseconds = 200
/** Maximum number of rows read from each feed per look: twice the number of attempts that may be in progress. */
const rowsPerLook = 20
/**
 * Maximum time for storing attempts that are about to begin. If storing takes longer, the attempts are postponed, so
 * that no attempt is presumed lost while it is in progress.
 */
const maxStoringMilliseconds = 4000
/** On average, the delivery log is trimmed after this many attempts to the deliveries that partners can see. */
const trimEveryAttempts = 50

/** A webhook that a round has read, and its state. */
interface FoundWebhook extends SeenWebhook {
  state: WebhookState
}

/** A webhook to which something must be done. */
interface WebhookWork extends FoundWebhook {
  decision: Decision
}

/**
 * Sends the hints of hosts whose feeds have moved or whose stored hints are due. Hosts are looked at in rounds. A round
 * waits neither for receivers nor for looks of earlier rounds, because a dead process's transaction may block a host for
 * seconds.
 */
export class HintSender {
  private state = atRest
  /** The rounds, looks and attempts in progress. */
  private readonly tasks = new Set<Promise<void>>()
  /** Ends the pause before the next round. */
  private endPause = () => {}
  private readonly write: ReturnType<typeof attemptWriter>

  /** @param mayWork returns true while this process may begin attempts */
  constructor(
    private readonly app: SenderContext,
    private readonly mayWork: () => boolean,
  ) {
    this.write = attemptWriter(app.db)
  }

  /** Looks at a host in the next round; `any` means that every host's feeds may have moved. */
  lookAt(host: number | 'any'): void {
    this.apply((state) => (host === 'any' ? withAllNoted(state) : withNoted(state, [host])))
    this.startRounds()
  }

  /** Returns true if a look at any host is planned. */
  hasPlannedLooks(): boolean {
    return this.state.planned.size > 0
  }

  /**
   * Looks at the hosts whose planned look is due, and at those skipped while `mayWork` returned false because the lease
   * was renewed late.
   */
  resume(): void {
    this.apply((state) => withoutOldAttempts(state, performance.now()))
    this.apply((state) => withDueNoted(state, this.app.clock))
    this.startRounds()
  }

  /** Resolves once all attempts have ended. Call this only once `mayWork` returns false. */
  async drain(): Promise<void> {
    // The last round may begin looks, and a look may begin attempts.
    for (const _ of ['rounds', 'looks', 'attempts']) await Promise.all(this.tasks)
  }

  /** The state is replaced at once, never across an `await`, so that no event is lost. */
  private apply(toNext: (state: SenderState) => SenderState): void {
    this.state = toNext(this.state)
  }

  /** Starts something that never throws and that `drain` waits for. */
  private start(work: Promise<void>): void {
    const task = work.finally(() => this.tasks.delete(task))
    this.tasks.add(task)
  }

  /** Starts the rounds, unless they are running or no host is noted. */
  private startRounds(): void {
    if (this.state.isInRounds || !hasNotedHosts(this.state)) return
    this.apply((state) => ({ ...state, isInRounds: true }))
    this.start(this.runRounds())
  }

  /** Begins looks in rounds until no host is noted. */
  private async runRounds(): Promise<void> {
    while (this.mayWork() && hasNotedHosts(this.state)) {
      const pause = Promise.withResolvers<void>()
      this.endPause = pause.resolve
      const pauseEnded = Promise.race([Bun.sleep(roundMilliseconds), pause.promise])
      await this.round()
      await pauseEnded
    }
    this.apply((state) => ({ ...state, isInRounds: false }))
  }

  /** Reads the noted hosts and begins the looks at those that have work. */
  private async round(): Promise<void> {
    try {
      const works = Map.groupBy(await this.read(), ({ webhook }) => webhook.owner_id)
      this.apply((state) => withLooksBegun(state, [...works.keys()]))
      for (const [host, ofHost] of works)
        if (this.state.lookedAt.has(host)) this.start(this.look(host, ofHost))
    } catch (error) {
      this.apply(withRoundFailed)
      await this.pauseAfter(error)
    }
  }

  /** Returns the webhooks to which something must be done, and plans later looks. */
  private async read(): Promise<WebhookWork[]> {
    const { db } = this.app
    if (this.state.areAllNoted) {
      this.apply(withListing)
      const hosts = await findHostsWithWebhooks(db)
      this.apply((state) => withNoted(state, hosts))
    }
    this.apply(withRoundBegun)
    const noted = [...this.state.read]
    const webhooks = noted.length > 0 ? await findEnabledWebhooks(db, { hosts: noted }) : []
    if (webhooks.length === 0) return []
    const found = await this.find(webhooks)
    this.apply((state) => withPlanned(state, found.flatMap(looksToPlan)))
    const works = found.map((one) => this.decided(one)).filter(({ decision }) => decision.next !== 'wait')
    return this.withKeys(works)
  }

  /** Returns the webhooks with what is known of them. */
  private async find(webhooks: Webhook[]): Promise<FoundWebhook[]> {
    const { db, clock } = this.app
    const hosts = [...new Set(webhooks.map(({ owner_id }) => owner_id))]
    const [clocks, counts] = await Promise.all([
      findClocks(db, hosts),
      countWaiting(db, hosts),
      this.app.refreshClocks?.(hosts),
    ])
    const clockOf = new Map(clocks.map((one) => [one._id, one]))
    const countOf = new Map(counts.map((one) => [nameOf(one._id), one]))
    return webhooks.map((webhook) => {
      const hostClock = clockOf.get(webhook.owner_id)
      const counted = countOf.get(nameOf(webhook))
      const facts: WebhookFacts = {
        waiting: counted?.count ?? 0,
        nextAttemptAt: counted?.next ?? null,
        isBehind: isBehind(webhook, hostClock),
        failingSince: webhook.failing_since,
        isAttempting: attemptsOf(this.state, webhook).inFlight.size > 0,
      }
      return { webhook, facts, clock: hostClock, state: stateOf(facts, clock(webhook.owner_id)) }
    })
  }

  /** Returns the same webhooks. Those whose key has ended must be turned off. */
  private async withKeys(works: WebhookWork[]): Promise<WebhookWork[]> {
    const keys = works.map(({ webhook }) => webhook.created_by)
    const usable = await usableKeys(this.app, keys)
    return works.map((work) => {
      if (usable.has(work.webhook.created_by)) return work
      return this.decided({ ...work, state: { is: 'off', reason: 'key_ended' } })
    })
  }

  /** Returns a webhook that a round or a look has left in this state, with what happens next to it. */
  private decided<T extends Pick<FoundWebhook, 'webhook' | 'state'>>(found: T): T & { decision: Decision } {
    const decision = decide(found.state, this.app.clock(found.webhook.owner_id))
    return { ...found, decision }
  }

  /** Does what was decided: turns off webhooks, or looks for their hints and begins the chosen attempts. */
  private async look(host: number, works: WebhookWork[]): Promise<void> {
    const { app } = this
    const now = app.clock(host)
    const startedAt = performance.now()
    let chosen: ChosenAttempts[] = []
    try {
      for (const { webhook, decision } of works)
        if (decision.next === 'turn off') await turnOffForService(app, webhook, decision.reason)
      const choices = await this.choose(host, works, now)
      chosen = choices.chosen
      if (choices.error) throw choices.error
      const begun = await this.store(host, chosen, now)
      if (begun.length > 0 && performance.now() - startedAt > maxStoringMilliseconds)
        throw new Error('Storing the attempts took too long; they will be repeated later')
      this.begin(chosen, begun)
      this.lookAgain(host, chosen)
    } catch (error) {
      await this.pauseAfter(error)
      this.lookAt(host)
    } finally {
      for (const { turns } of chosen) for (const turn of turns) turn.giveBack()
      this.apply((state) => withLookEnded(state, host))
    }
  }

  /**
   * Chooses the attempts to begin for those of a host's webhooks that are due. If the choice fails for one webhook, the
   * others' turns must still be given back, so the error is returned.
   */
  private async choose(
    host: number,
    works: WebhookWork[],
    now: Date,
  ): Promise<{ chosen: ChosenAttempts[]; error: unknown }> {
    const readNew = hintReader(this.app.db, host, rowsPerLook)
    const choices: Promise<ChosenAttempts>[] = []
    for (const { webhook, facts, clock, decision } of works) {
      if (decision.next !== 'look') continue
      // Attempts may have ended since the round.
      const seen = { webhook, clock, facts, attempts: attemptsOf(this.state, webhook) }
      choices.push(chooseAttempts(this.app, seen, now, readNew))
    }
    const settled = await Promise.allSettled(choices)
    const chosen = settled.filter((choice) => choice.status === 'fulfilled').map(({ value }) => value)
    const error = settled.find((choice) => choice.status === 'rejected')?.reason
    return { chosen, error }
  }

  /**
   * Stores a host's attempts before they begin, so that another process repeats them if this process dies: marks the
   * stored hints as in flight, creates the new hints, and moves the webhooks' positions. Returns the hints in flight.
   */
  private async store(host: number, chosen: ChosenAttempts[], now: Date): Promise<WebhookDelivery[]> {
    const { db } = this.app
    const due = chosen.flatMap(({ stored }) => stored)
    const created = chosen.flatMap((one) => one.created)
    const moves: { webhook: Webhook; seen: Positions }[] = []
    for (const { webhook, positions } of chosen) if (positions) moves.push({ webhook, seen: positions })
    if (due.length + moves.length === 0) return []
    return inTransaction(db, `webhooks/${host}`, async (session) => {
      if (moves.length > 0) await movePositions(db, session, moves)
      const begun = due.length > 0 ? await beginAttempts(db, session, { ownerId: host, due, now }) : []
      const added = created.length > 0 ? await addHints(db, session, created, now) : []
      return [...begun, ...added]
    })
  }

  /** Begins attempts for the deliveries that are marked as in flight. */
  private begin(chosen: ChosenAttempts[], deliveries: WebhookDelivery[]): void {
    const deliveriesOf = Map.groupBy(deliveries, ({ webhook_id }) => webhook_id)
    for (const { webhook, turns, state } of chosen) {
      const begun = deliveriesOf.get(webhook.id) ?? []
      if (begun.length > turns.length) throw new Error('An attempt without a turn')
      const attempts = begun.map(({ _id, booking_id }) => ({ id: String(_id), booking: booking_id }))
      this.change(webhook, (before) => withBegun(withLooked(before, state), attempts, performance.now()))
      for (const delivery of begun) this.start(this.attempt(webhook, delivery, turns.pop() as Turn))
    }
  }

  /** Looks at a host again after the shortest pause that one of its webhooks' states requires. */
  private lookAgain(host: number, chosen: ChosenAttempts[]): void {
    const pauses: number[] = []
    for (const one of chosen) {
      const { decision } = this.decided(one)
      if (decision.next === 'look') pauses.push(decision.inMilliseconds)
    }
    if (pauses.length === 0) return
    setTimeout(() => this.lookAt(host), Math.min(...pauses)).unref()
  }

  /** Attempts a delivery, and looks at its host again if the attempt failed or other hints may have waited for it. */
  private async attempt(webhook: Webhook, delivery: WebhookDelivery, turn: Turn): Promise<void> {
    const { owner_id, failing_since } = webhook
    const id = String(delivery._id)
    // Evaluated once the response has arrived, because other attempts may have ended by then.
    const mayBeFailing = () => failing_since !== null || attemptsOf(this.state, webhook).hasFailed
    const isDelivered = await this.deliver({ webhook, delivery, turn, mayBeFailing })
    this.change(webhook, (attempts) => withEnded(attempts, { id, isDelivered }))
    const next = afterEnd(attemptsOf(this.state, webhook))
    // A look that is in progress may have counted this attempt.
    if (next !== 'nothing' || this.state.lookedAt.has(owner_id)) this.lookAt(owner_id)
    if (next === 'look at once') this.endPause()
  }

  /** Makes an attempt and returns false if it failed. Never throws. */
  private async deliver(planned: PlannedAttempt): Promise<boolean> {
    const { app } = this
    const { webhook, delivery } = planned
    const trace = resumeTrace(delivery.trace, `hint ${delivery.event}`)
    trace?.note?.({ host_id: webhook.owner_id, key_id: webhook.created_by })
    try {
      const isDelivered = await inTrace(trace, () => attempt(app, this.write, planned))
      app.metrics.countHint(isDelivered)
      if (Math.random() * trimEveryAttempts < 1) await trimDeliveries(app.db, webhook)
      return isDelivered
    } catch (error) {
      app.log.warn({ error: String(error) }, 'Cannot send a hint')
      return false
    }
  }

  private change(webhook: WebhookId, toNext: (attempts: WebhookAttempts) => WebhookAttempts): void {
    this.apply((state) => withAttempts(state, webhook, toNext))
  }

  private pauseAfter(error: unknown): Promise<void> {
    this.app.log.warn({ error: String(error) }, 'Cannot send hints')
    return Bun.sleep(1000)
  }
}

/** Returns when a webhook's host must be looked at even if nothing moves. */
function looksToPlan({ webhook, facts }: SeenWebhook): PlannedLook[] {
  const host = webhook.owner_id
  const looks: PlannedLook[] = []
  if (facts.nextAttemptAt) looks.push({ host, at: facts.nextAttemptAt })
  if (facts.failingSince) looks.push({ host, at: failingUntil(facts.failingSince) })
  return looks
}

function nameOf({ owner_id, id }: WebhookId): string {
  return `${owner_id}/${id}`
}
