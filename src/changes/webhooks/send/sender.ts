import { inTrace, resumeTrace } from '../../../core/trace.ts'
import { findClocks } from '../../../host-clock/change-store.ts'
import type { AppContext } from '../../../http/context.ts'
import { inTransaction } from '../../../platform/mongo/transactions.ts'
import { addHints, beginAttempts, countWaiting, trimDeliveries } from '../deliveries-store.ts'
import { hintReader, isBehind } from '../feeds.ts'
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
import { type AttemptContext, attempt, attemptWriter, failingUntil } from './attempt.ts'
import {
  type ChosenAttempts,
  chooseAttempts,
  newWebhookAttempts,
  type WebhookAttempts,
  type WebhookWork,
  withinSecond,
} from './choose.ts'
import type { Turn } from './limits.ts'

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
  /**
   * Ends the pause before the next round. Messages never merge, so without this, a burst of messages about one booking
   * would be sent at five a second.
   */
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
    // A running round and hosts being served use these records, so they are deleted only when nothing is running.
    if (!this.running && this.serving.size === 0)
      for (const [name, { inFlight, startedAt }] of this.attempts)
        if (inFlight.size === 0 && withinSecond(startedAt).length === 0) this.attempts.delete(name)
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

  /** Returns the work for the hosts to check, by host id. */
  private async findWork(): Promise<Map<number, WebhookWork[]>> {
    const { db, clock } = this.app
    if (this.mustCheckAll) {
      this.mustCheckAll = false
      for (const ownerId of await findHostsWithWebhooks(db)) this.hostsToCheck.add(ownerId)
    }
    const moved = [...this.hostsToCheck]
      .filter((ownerId) => !this.serving.has(ownerId))
      .slice(0, hostsPerRound)
    // Hosts are removed before anything is read, so that a host that moves during the reads is checked again.
    for (const ownerId of moved) this.hostsToCheck.delete(ownerId)
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
      const { count, next } = countOf.get(nameOf(webhook)) ?? { count: 0, next: null }
      if (next) this.planCheck(owner_id, next)
      if (failing_since) this.planCheck(owner_id, failingUntil(failing_since))
      const work = workOf({
        webhook,
        own: this.attemptsOf(webhook),
        waiting: count,
        next,
        clock: clockOf.get(owner_id),
        now: clock(owner_id),
      })
      if (work.isDue || work.isBehind || work.turnOffReason) works.push(work)
    }
    const keys = works.map(({ webhook }) => webhook.created_by)
    const usable = await usableKeys(this.app, keys)
    for (const work of works) if (!usable.has(work.webhook.created_by)) work.turnOffReason = 'key_ended'
    return Map.groupBy(works, ({ webhook }) => webhook.owner_id)
  }

  /**
   * Turns off the webhooks that have failed for too long or whose key has ended, stores the hints created from the
   * feeds, and begins the chosen attempts.
   */
  private async serve(ownerId: number, works: WebhookWork[]): Promise<void> {
    const { app } = this
    const { db } = app
    const now = app.clock(ownerId)
    const startedAt = performance.now()
    let chosen: ChosenAttempts[] = []
    try {
      for (const { webhook, turnOffReason } of works)
        if (turnOffReason) await turnOffForService(app, webhook, turnOffReason)
      const open = works.filter(({ turnOffReason }) => !turnOffReason)
      const read = hintReader(db, ownerId, rowsPerCheck)
      const choices = await Promise.allSettled(open.map((work) => chooseAttempts(app, work, now, read)))
      chosen = choices.filter((choice) => choice.status === 'fulfilled').map(({ value }) => value)
      const failed = choices.find((choice) => choice.status === 'rejected')
      if (failed) throw failed.reason
      this.begin(chosen, await this.store(ownerId, chosen, now), startedAt)
      const pause = Math.min(...chosen.map(({ pauseMilliseconds }) => pauseMilliseconds))
      if (pause < Number.POSITIVE_INFINITY) setTimeout(() => this.scheduleCheck(ownerId), pause).unref()
    } catch (error) {
      await this.pauseAfter(error)
      this.scheduleCheck(ownerId)
    } finally {
      for (const { turns } of chosen) for (const turn of turns) turn.giveBack()
      this.serving.delete(ownerId)
    }
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
      if (created.length > 0) await addHints(db, session, created)
      return [...begun, ...created.filter(({ in_flight }) => in_flight)]
    })
  }

  /** Begins attempts for the deliveries that are marked as in flight. */
  private begin(works: ChosenAttempts[], deliveries: WebhookDelivery[], startedAt: number): void {
    if (deliveries.length > 0 && performance.now() - startedAt > maxStoringMilliseconds)
      throw new Error('Storing the attempts took too long; they will be repeated later')
    const deliveriesOf = Map.groupBy(deliveries, ({ webhook_id }) => webhook_id)
    for (const work of works)
      for (const delivery of deliveriesOf.get(work.webhook.id) ?? []) {
        const turn = work.turns.pop()
        if (!turn) throw new Error('An attempt without a turn')
        const attempt = this.attempt(work, delivery, turn).finally(() => this.unfinished.delete(attempt))
        this.unfinished.add(attempt)
      }
  }

  /** Attempts a delivery, and checks its host again if the attempt failed or other hints may have waited for it. */
  private async attempt({ webhook, own }: WebhookWork, delivery: WebhookDelivery, turn: Turn): Promise<void> {
    const { app } = this
    const name = String(delivery._id)
    own.inFlight.set(name, delivery.booking_id)
    own.startedAt.push(performance.now())
    // Evaluated once the response has arrived, because other attempts may have ended by then.
    const mayBeFailing = () => webhook.failing_since !== null || own.hasFailed
    const trace = resumeTrace(delivery.trace, `hint ${delivery.event}`)
    trace?.note?.({ host_id: webhook.owner_id, key_id: webhook.created_by })
    try {
      const isDelivered = await inTrace(trace, () =>
        attempt(app, this.write, { webhook, delivery, turn, mayBeFailing }),
      )
      own.hasFailed = !isDelivered
      app.metrics.countHint(isDelivered)
      if (Math.random() * trimEveryAttempts < 1) await trimDeliveries(app.db, webhook)
    } catch (error) {
      own.hasFailed = true
      app.log.warn({ error: String(error) }, 'Cannot send a hint')
    }
    own.inFlight.delete(name)
    if (own.mayHoldBack || own.hasFailed) this.scheduleCheck(webhook.owner_id)
    if (own.hasBlockedHint) this.skipPause.resolve()
  }

  private attemptsOf(webhook: WebhookId): WebhookAttempts {
    const name = nameOf(webhook)
    const own = this.attempts.get(name) ?? newWebhookAttempts()
    this.attempts.set(name, own)
    return own
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

/** What a round has read about a webhook. */
interface WebhookFacts extends Pick<WebhookWork, 'webhook' | 'own' | 'waiting' | 'clock'> {
  /** Time of the earliest next attempt; null if no hint is waiting. */
  next: Date | null
  now: Date
}

/** Returns the work for a webhook, without regard to its key. */
function workOf({ webhook, own, waiting, next, clock, now }: WebhookFacts): WebhookWork {
  const hasNews = isBehind(webhook, clock)
  const isIdle = waiting + own.inFlight.size === 0 && !hasNews
  const isOverdue = webhook.failing_since !== null && failingUntil(webhook.failing_since) <= now
  return {
    webhook,
    own,
    waiting,
    isDue: next !== null && next <= now,
    isBehind: hasNews,
    clock,
    turnOffReason: isIdle && isOverdue ? 'failing' : null,
  }
}

function nameOf({ owner_id, id }: WebhookId): string {
  return `${owner_id}/${id}`
}
