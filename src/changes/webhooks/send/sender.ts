/**
 * From a change to the post, a hint passes through six steps:
 *
 * 1. `scheduleCheck` notes the host, because the change stream on the hosts' clocks reports that it has moved.
 * 2. `run` goes from round to round, at least 200 ms apart. `findWork` reads the webhooks, clocks, waiting hints and
 *    keys of all noted hosts together and keeps the webhooks to which something must be done (`state.ts`).
 * 3. `serve` handles one host: it turns off the webhooks that must be off, and `choose.ts` looks for the hints of the
 *    others, first those that are stored and due, then the new ones in the feeds.
 * 4. `store` marks the chosen attempts as begun and creates the new hints in one transaction. `begin` starts the
 *    attempts, whose ends may lead to another check of the host.
 * 5. `attempt.ts` makes one attempt: it signs the hint, injects a sandbox's fault, and stores the outcome.
 * 6. `post.ts` posts to a checked address.
 *
 * An alarm (decisions §29) passes through the same steps as a stored hint. The transaction that opens or ends it
 * (`health/alarms/store.ts`) stores a delivery that is due and moves the host's clock, which is reported in step 1. So
 * "hint" means both here, down to the log and the metrics.
 *
 * The other files: `worker.ts` lets one process at a time do this, `new-hints.ts` makes hints of the feeds' rows,
 * `in-flight.ts` keeps this process's attempts, `turns.ts` limits the posts to an origin, and `../attempts-store.ts` has
 * what is read and written of the deliveries.
 */

import { inTrace, resumeTrace } from '../../../core/trace.ts'
import { findClocks } from '../../../host-clock/change-store.ts'
import type { AppContext } from '../../../http/context.ts'
import { inTransaction } from '../../../platform/mongo/transactions.ts'
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
  webhooksPerHost,
} from '../store.ts'
import { turnOffForService } from '../turn-off.ts'
import { type AttemptContext, attempt, attemptWriter, type PlannedAttempt } from './attempt.ts'
import { type ChosenAttempts, chooseAttempts, type SeenWebhook } from './choose.ts'
import {
  afterEnd,
  isOver,
  noAttempts,
  type WebhookAttempts,
  withBegun,
  withEnded,
  withLooked,
} from './in-flight.ts'
import { hintReader, isBehind } from './new-hints.ts'
import { decide, failingUntil, stateOf, type WebhookFacts, type WebhookState } from './state.ts'
import type { Turn } from './turns.ts'

/** The context for sending hints. */
export type SenderContext = AttemptContext & Pick<AppContext, 'liveDb' | 'log' | 'metrics'>

/** Minimum interval between rounds, so that changes in quick succession are announced together. */
const roundMilliseconds = 200
/** Maximum number of hosts that one round checks. */
const hostsPerRound = 1000
/** Maximum number of hosts that are served concurrently. */
const maxHosts = 100
/** Maximum number of webhooks with attempts in progress; other webhooks wait for those attempts to end. */
const maxWebhooks = 1000
/** Maximum number of rows read from each feed per check: twice the number of attempts that may be in progress. */
const rowsPerCheck = 20
/**
 * Maximum time for storing attempts that are about to begin. If storing takes longer, the attempts are postponed, so
 * that no attempt is presumed lost while it is in progress.
 */
const maxStoringMilliseconds = 4000
/** On average, the delivery log is trimmed after this many attempts to the deliveries that partners can see. */
const trimEveryAttempts = 50

/** A webhook to which something must be done. */
interface WebhookWork extends SeenWebhook {
  state: WebhookState
}

/**
 * Sends the hints of hosts whose feeds have moved or whose stored hints are due. Hosts are checked in rounds. A round
 * waits neither for receivers nor for hosts from earlier rounds, because a dead process's transaction may block a host
 * for seconds.
 */
export class HintSender {
  private readonly hostsToCheck = new Set<number>()
  private mustCheckAll = false
  /** Time of each host's next planned check, on the host's clock, by host id. */
  private readonly plannedChecks = new Map<number, Date>()
  private readonly serving = new Map<number, Promise<void>>()
  /** This process's attempts, by host and id of the webhook. */
  private readonly attempts = new Map<string, WebhookAttempts>()
  private readonly unfinished = new Set<Promise<void>>()
  /** Ends the pause before the next round. */
  private skipPause = Promise.withResolvers<void>()
  private running: Promise<void> | undefined
  private readonly write: ReturnType<typeof attemptWriter>

  /** @param mayWork returns true while this process may begin attempts */
  constructor(
    private readonly app: SenderContext,
    private readonly mayWork: () => boolean,
  ) {
    this.write = attemptWriter(app.db)
  }

  /** Checks a host in the next round; `any` means that every host's feeds may have moved. */
  scheduleCheck(ownerId: number | 'any'): void {
    if (ownerId === 'any') this.mustCheckAll = true
    else this.hostsToCheck.add(ownerId)
    this.running ??= this.run().finally(() => {
      this.running = undefined
    })
  }

  /** Returns true if any host has a planned check. */
  hasPlannedChecks(): boolean {
    return this.plannedChecks.size > 0
  }

  /**
   * Checks the hosts whose planned check is due, and those skipped while `mayWork` returned false because the lease was
   * renewed late.
   */
  resume(): void {
    this.forgetOldAttempts()
    const isDue = ([ownerId, at]: [number, Date]) => at <= this.app.clock(ownerId)
    const due = [...this.plannedChecks].filter(isDue).map(([ownerId]) => ownerId)
    for (const ownerId of due) this.plannedChecks.delete(ownerId)
    for (const ownerId of [...this.hostsToCheck, ...due]) this.scheduleCheck(ownerId)
    if (this.mustCheckAll) this.scheduleCheck('any')
  }

  /** Resolves once all attempts have ended. Call this only once `mayWork` returns false. */
  async drain(): Promise<void> {
    await Promise.all([this.running, ...this.serving.values()])
    await Promise.all(this.unfinished)
  }

  /** Serves hosts in rounds until no host is left to check. */
  private async run(): Promise<void> {
    while (this.mayWork() && (this.mustCheckAll || this.hostsToCheck.size > 0)) {
      const pause = Bun.sleep(roundMilliseconds)
      this.skipPause = Promise.withResolvers<void>()
      try {
        const works = await this.findWork()
        const sending = [...this.attempts.values()].filter(({ inFlight }) => inFlight.size > 0).length
        // Attempts to all of a host's webhooks begin together.
        const room = Math.min(maxHosts, Math.floor((maxWebhooks - sending) / webhooksPerHost))
        for (const [ownerId, work] of works)
          if (this.serving.size < room) this.serving.set(ownerId, this.serve(ownerId, work))
          else this.hostsToCheck.add(ownerId)
      } catch (error) {
        // The failed round may already have removed hosts from `hostsToCheck`.
        this.mustCheckAll = true
        await this.pauseAfter(error)
      }
      await Promise.race([pause, this.skipPause.promise])
    }
  }

  /** Returns the webhooks to which something must be done, by host id, and plans later checks. */
  private async findWork(): Promise<Map<number, WebhookWork[]>> {
    const { db, clock } = this.app
    const moved = await this.takeHosts()
    const webhooks = moved.length > 0 ? await findEnabledWebhooks(db, { hosts: moved }) : []
    if (webhooks.length === 0) return new Map()
    const hosts = [...new Set(webhooks.map(({ owner_id }) => owner_id))]
    const [clocks, counts] = await Promise.all([
      findClocks(db, hosts),
      countWaiting(db, hosts),
      this.app.refreshClocks?.(hosts),
    ])
    const clockOf = new Map(clocks.map((one) => [one._id, one]))
    const countOf = new Map(counts.map((one) => [nameOf(one._id), one]))
    const works: WebhookWork[] = []
    for (const webhook of webhooks) {
      const { owner_id, failing_since } = webhook
      const { count: waiting, next } = countOf.get(nameOf(webhook)) ?? { count: 0, next: null }
      if (next) this.planCheck(owner_id, next)
      if (failing_since) this.planCheck(owner_id, failingUntil(failing_since))
      const hostClock = clockOf.get(owner_id)
      const facts: WebhookFacts = {
        waiting,
        nextAttemptAt: next,
        isBehind: isBehind(webhook, hostClock),
        failingSince: failing_since,
        isAttempting: this.attemptsOf(webhook).inFlight.size > 0,
      }
      const now = clock(owner_id)
      const state = stateOf(facts, now)
      if (decide(state, now).next !== 'wait') works.push({ webhook, facts, state, clock: hostClock })
    }
    return Map.groupBy(await this.withKeys(works), ({ webhook }) => webhook.owner_id)
  }

  /** Returns the hosts to check in this round, which need no further check unless they move again. */
  private async takeHosts(): Promise<number[]> {
    if (this.mustCheckAll) {
      this.mustCheckAll = false
      for (const ownerId of await findHostsWithWebhooks(this.app.db)) this.hostsToCheck.add(ownerId)
    }
    const hosts = [...this.hostsToCheck]
      .filter((ownerId) => !this.serving.has(ownerId))
      .slice(0, hostsPerRound)
    // Hosts are removed before anything is read, so that a host that moves during the reads is checked again.
    for (const ownerId of hosts) this.hostsToCheck.delete(ownerId)
    return hosts
  }

  /** Returns the same webhooks. Those whose key has ended must be turned off. */
  private async withKeys(works: WebhookWork[]): Promise<WebhookWork[]> {
    const keys = works.map(({ webhook }) => webhook.created_by)
    const usable = await usableKeys(this.app, keys)
    return works.map((work) => {
      if (usable.has(work.webhook.created_by)) return work
      return { ...work, state: { is: 'off', reason: 'key_ended' } }
    })
  }

  /** Does what `decide` says: turns off webhooks, or looks for their hints and begins the chosen attempts. */
  private async serve(ownerId: number, works: WebhookWork[]): Promise<void> {
    const { app } = this
    const now = app.clock(ownerId)
    const startedAt = performance.now()
    let chosen: ChosenAttempts[] = []
    try {
      for (const { webhook, state } of works) {
        const decision = decide(state, now)
        if (decision.next === 'turn off') await turnOffForService(app, webhook, decision.reason)
      }
      const looks = await this.look(ownerId, works, now)
      chosen = looks.chosen
      if (looks.error) throw looks.error
      const begun = await this.store(ownerId, chosen, now)
      if (begun.length > 0 && performance.now() - startedAt > maxStoringMilliseconds)
        throw new Error('Storing the attempts took too long; they will be repeated later')
      this.begin(chosen, begun)
      this.lookAgain(ownerId, chosen, now)
    } catch (error) {
      await this.pauseAfter(error)
      this.scheduleCheck(ownerId)
    } finally {
      for (const { turns } of chosen) for (const turn of turns) turn.giveBack()
      this.serving.delete(ownerId)
    }
  }

  /**
   * Chooses the attempts to begin for those of a host's webhooks that are due. If the choice fails for one webhook, the
   * others' turns must still be given back, so the error is returned.
   */
  private async look(
    ownerId: number,
    works: WebhookWork[],
    now: Date,
  ): Promise<{ chosen: ChosenAttempts[]; error: unknown }> {
    const read = hintReader(this.app.db, ownerId, rowsPerCheck)
    const choices: Promise<ChosenAttempts>[] = []
    for (const { webhook, state, facts, clock } of works) {
      if (decide(state, now).next !== 'look') continue
      // Attempts may have ended since the round.
      const seen = { webhook, clock, facts, attempts: this.attemptsOf(webhook) }
      choices.push(chooseAttempts(this.app, seen, now, read))
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
  private async store(ownerId: number, chosen: ChosenAttempts[], now: Date): Promise<WebhookDelivery[]> {
    const { db } = this.app
    const due = chosen.flatMap(({ stored }) => stored)
    const created = chosen.flatMap((one) => one.created)
    const moves: { webhook: Webhook; seen: Positions }[] = []
    for (const { webhook, positions } of chosen) if (positions) moves.push({ webhook, seen: positions })
    if (due.length + moves.length === 0) return []
    return inTransaction(db, `webhooks/${ownerId}`, async (session) => {
      if (moves.length > 0) await movePositions(db, session, moves)
      const begun = due.length > 0 ? await beginAttempts(db, session, { ownerId, due, now }) : []
      const added = created.length > 0 ? await addHints(db, session, created, now) : []
      return [...begun, ...added]
    })
  }

  /** Begins attempts for the deliveries that are marked as in flight. */
  private begin(chosen: ChosenAttempts[], deliveries: WebhookDelivery[]): void {
    const deliveriesOf = Map.groupBy(deliveries, ({ webhook_id }) => webhook_id)
    for (const { webhook, turns, state } of chosen) {
      this.change(webhook, (attempts) => withLooked(attempts, state))
      for (const delivery of deliveriesOf.get(webhook.id) ?? []) {
        const turn = turns.pop()
        if (!turn) throw new Error('An attempt without a turn')
        const attempt = this.attempt(webhook, delivery, turn).finally(() => this.unfinished.delete(attempt))
        this.unfinished.add(attempt)
      }
    }
  }

  /** Has a host checked again after the shortest pause that one of its webhooks' states requires. */
  private lookAgain(ownerId: number, chosen: ChosenAttempts[], now: Date): void {
    const pauses: number[] = []
    for (const { state } of chosen) {
      const decision = decide(state, now)
      if (decision.next === 'look') pauses.push(decision.inMilliseconds)
    }
    if (pauses.length === 0) return
    setTimeout(() => this.scheduleCheck(ownerId), Math.min(...pauses)).unref()
  }

  /** Attempts a delivery, and has its host checked again if the attempt failed or other hints may have waited for it. */
  private async attempt(webhook: Webhook, delivery: WebhookDelivery, turn: Turn): Promise<void> {
    const { owner_id, failing_since } = webhook
    const id = String(delivery._id)
    const booking = delivery.booking_id
    this.change(webhook, (attempts) => withBegun(attempts, { id, booking }, performance.now()))
    // Evaluated once the response has arrived, because other attempts may have ended by then.
    const mayBeFailing = () => failing_since !== null || this.attemptsOf(webhook).hasFailed
    const isDelivered = await this.deliver({ webhook, delivery, turn, mayBeFailing })
    const attempts = this.change(webhook, (before) => withEnded(before, { id, isDelivered }))
    const next = afterEnd(attempts, this.app.clock(owner_id))
    // A check that is in progress may have counted this attempt.
    if (next !== 'nothing' || this.serving.has(owner_id)) this.scheduleCheck(owner_id)
    if (next === 'look at once') this.skipPause.resolve()
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

  private attemptsOf(webhook: WebhookId): WebhookAttempts {
    return this.attempts.get(nameOf(webhook)) ?? noAttempts
  }

  private change(
    webhook: WebhookId,
    toNext: (attempts: WebhookAttempts) => WebhookAttempts,
  ): WebhookAttempts {
    const next = toNext(this.attemptsOf(webhook))
    this.attempts.set(nameOf(webhook), next)
    return next
  }

  /** A webhook that a round or a look has read may have failed since, so what is known of it is kept until they end. */
  private forgetOldAttempts(): void {
    if (this.running || this.serving.size > 0) return
    const now = performance.now()
    for (const [name, attempts] of this.attempts) if (isOver(attempts, now)) this.attempts.delete(name)
  }

  /** Plans a check of a host at the given time on the host's clock, unless an earlier check is already planned. */
  private planCheck(ownerId: number, at: Date): void {
    const planned = this.plannedChecks.get(ownerId)
    if (!planned || at < planned) this.plannedChecks.set(ownerId, at)
  }

  private pauseAfter(error: unknown): Promise<void> {
    this.app.log.warn({ error: String(error) }, 'Cannot send hints')
    return Bun.sleep(1000)
  }
}

function nameOf({ owner_id, id }: WebhookId): string {
  return `${owner_id}/${id}`
}
