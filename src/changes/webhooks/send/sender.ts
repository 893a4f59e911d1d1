/**
 * From a change to the post, a hint passes through five steps:
 *
 * 1. `lookAt` notes the host, because the change stream on the hosts' clocks reports that it has moved.
 * 2. `read` reads the webhooks of the noted hosts, their clocks, waiting hints and keys, in a round for all of them.
 * 3. `look` handles one host: it turns off the webhooks that must be off, and `attempts-to-begin.ts` looks for the hints
 *    of those that are due, first those that are stored, then the new ones in the feeds. `store` marks the chosen
 *    attempts as begun and creates the new hints in one transaction. Then the attempts begin.
 * 4. `attempt.ts` makes one attempt: it signs the hint, injects a sandbox's fault, and stores the outcome.
 * 5. `post.ts` posts to a checked address.
 *
 * An alarm (decisions §29) passes through the same steps as a stored hint. The transaction that opens or ends it
 * (`health/alarms/store.ts`) stores a delivery that is due and moves the host's clock, which is reported in step 1. So
 * "hint" means both here, down to the log and the metrics.
 *
 * What happens next is decided in `state.ts`, without I/O: which hosts are read and looked at, and when. This file
 * performs its effects in the order of the steps, and tells it what has happened.
 *
 * The other files: `worker.ts` lets one process at a time do this, `new-hints.ts` makes hints of the feeds' rows,
 * `turns.ts` limits the posts to an origin, and `../attempts-store.ts` has what is read and written of the deliveries.
 */

import { inTrace, resumeTrace } from '../../../core/trace.ts'
import { findClocks } from '../../../host-clock/change-store.ts'
import type { AppContext } from '../../../http/context.ts'
import { timeLimitOn } from '../../../platform/mongo/connection.ts'
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
import { type ChosenAttempts, chooseAttempts } from './attempts-to-begin.ts'
import { isBehind } from './new-hints.ts'
import {
  type Attempt,
  atRest,
  attemptsAt,
  attemptsOf,
  type LookedWebhook,
  next,
  type SeenWebhook,
  type SenderEffect,
  type SenderEvent,
} from './state.ts'

/** The context for sending hints. */
export type SenderContext = AttemptContext & Pick<AppContext, 'liveDb' | 'log' | 'metrics'>

/**
 * Maximum time for storing attempts that are about to begin. If storing takes longer, the attempts are postponed, so
 * that no attempt is presumed lost while it is in progress.
 */
const maxStoringMilliseconds = 4000
/** On average, the delivery log is trimmed after this many attempts to the deliveries that partners can see. */
const trimEveryAttempts = 50

/** The effects of a round. */
type RoundEffect = Extract<SenderEffect, { does: 'list' | 'read' }>
/** The effect that begins a look. */
type LookEffect = Extract<SenderEffect, { does: 'look' }>

/**
 * Sends the hints of hosts whose feeds have moved or whose stored hints are due. A round waits neither for receivers nor
 * for looks of earlier rounds, because a dead process's transaction may block a host for seconds.
 */
export class HintSender {
  private state = atRest
  /** The effects and attempts in progress. */
  private readonly tasks = new Set<Promise<void>>()
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
    this.tell({ is: 'noted', host })
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
    this.tell({ is: 'tick' })
  }

  /** Resolves once all attempts have ended. Call this only once `mayWork` returns false. */
  async drain(): Promise<void> {
    // A round may begin looks, and a look may begin attempts.
    while (this.tasks.size > 0) await Promise.all(this.tasks)
  }

  /** The state is replaced at once, never across an `await`, so that no event is lost. */
  private tell(event: SenderEvent): void {
    const moment = { at: performance.now(), clock: this.app.clock, mayWork: this.mayWork() }
    const { state, effects } = next(this.state, event, moment)
    this.state = state
    for (const effect of effects) this.perform(effect)
  }

  private perform(effect: SenderEffect): void {
    switch (effect.does) {
      case 'list':
      case 'read':
        this.start(this.round(effect))
        break
      case 'look':
        this.start(this.look(effect))
        break
      case 'note':
        setTimeout(() => this.tell({ is: 'noted', host: effect.host }), effect.inMilliseconds).unref()
        break
      case 'wake':
        setTimeout(() => this.tell({ is: 'woken' }), effect.inMilliseconds).unref()
        break
    }
  }

  /** Starts something that never throws and that `drain` waits for. */
  private start(work: Promise<void>): void {
    const task = work.finally(() => this.tasks.delete(task))
    this.tasks.add(task)
  }

  private async round(effect: RoundEffect): Promise<void> {
    let event: SenderEvent
    try {
      if (effect.does === 'list') event = { is: 'listed', hosts: await findHostsWithWebhooks(this.app.db) }
      else event = { is: 'read', webhooks: await this.read(effect.hosts) }
    } catch (error) {
      await this.pauseAfter(error)
      event = { is: 'round failed' }
    }
    this.tell(event)
  }

  /** Reads what is known of hosts' webhooks. */
  private async read(hosts: readonly number[]): Promise<SeenWebhook[]> {
    const { app } = this
    const webhooks = await findEnabledWebhooks(app.db, { hosts: [...hosts] })
    if (webhooks.length === 0) return []
    const owners = [...new Set(webhooks.map(({ owner_id }) => owner_id))]
    const keys = webhooks.map(({ created_by }) => created_by)
    const [clocks, counts, usable] = await Promise.all([
      findClocks(app.db, owners),
      countWaiting(app.db, owners),
      usableKeys(app, keys),
      app.refreshClocks?.(owners),
    ])
    const clockOf = new Map(clocks.map((one) => [one._id, one]))
    const countOf = new Map(counts.map((one) => [nameOf(one._id), one]))
    return webhooks.map((webhook) => {
      const clock = clockOf.get(webhook.owner_id)
      const counted = countOf.get(nameOf(webhook))
      const facts = {
        waiting: counted?.count ?? 0,
        nextAttemptAt: counted?.next ?? null,
        isBehind: isBehind(webhook, clock),
        failingSince: webhook.failing_since,
        isKeyUsable: usable.has(webhook.created_by),
      }
      return { webhook, facts, clock }
    })
  }

  /** Turns off a host's webhooks that must be off, and begins the attempts of those that are due. */
  private async look({ host, off, due }: LookEffect): Promise<void> {
    const { app } = this
    const now = app.clock(host)
    const startedAt = performance.now()
    let chosen: ChosenAttempts[] = []
    try {
      for (const { webhook, reason } of off) await turnOffForService(app, webhook, reason)
      // Attempts may have ended since the round.
      const at = performance.now()
      const current = due.map((one) => ({ ...one, attempts: attemptsAt(this.state, one.webhook, at) }))
      const choices = await chooseAttempts(app, current, now)
      chosen = choices.chosen
      if (choices.error) throw choices.error
      const begun = await this.store(host, chosen, now)
      if (begun.length > 0 && performance.now() - startedAt > timeLimitOn(app.db, maxStoringMilliseconds))
        throw new Error('Storing the attempts took too long; they will be repeated later')
      this.begin(host, chosen, begun)
    } catch (error) {
      await this.pauseAfter(error)
      this.tell({ is: 'look failed', host })
    } finally {
      for (const { turns } of chosen) for (const turn of turns) turn.giveBack()
    }
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

  /** Begins the attempts whose deliveries are marked as in flight, which ends the look. */
  private begin(host: number, chosen: ChosenAttempts[], deliveries: WebhookDelivery[]): void {
    const deliveriesOf = Map.groupBy(deliveries, ({ webhook_id }) => webhook_id)
    const planned: Omit<PlannedAttempt, 'mayBeFailing'>[] = []
    const webhooks: LookedWebhook[] = []
    for (const { webhook, turns, look } of chosen) {
      const begun = deliveriesOf.get(webhook.id) ?? []
      if (begun.length > turns.length) throw new Error('An attempt without a turn')
      webhooks.push({ webhook, look, begun: begun.map(attemptOf) })
      for (const delivery of begun) planned.push({ webhook, delivery, turn: turns.pop() as Turn })
    }
    this.tell({ is: 'looked', host, webhooks })
    for (const one of planned) this.start(this.attempt(one))
  }

  /** Attempts a delivery. */
  private async attempt(planned: Omit<PlannedAttempt, 'mayBeFailing'>): Promise<void> {
    const { webhook, delivery } = planned
    // Evaluated once the response has arrived, because other attempts may have ended by then.
    const mayBeFailing = () => webhook.failing_since !== null || attemptsOf(this.state, webhook).hasFailed
    const isDelivered = await this.deliver({ ...planned, mayBeFailing })
    this.tell({ is: 'attempt ended', webhook, id: attemptOf(delivery).id, isDelivered })
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

  private pauseAfter(error: unknown): Promise<void> {
    this.app.log.warn({ error: String(error) }, 'Cannot send hints')
    return Bun.sleep(1000)
  }
}

function attemptOf({ _id, booking_id }: WebhookDelivery): Attempt {
  return { id: String(_id), booking: booking_id }
}

function nameOf({ owner_id, id }: WebhookId): string {
  return `${owner_id}/${id}`
}
