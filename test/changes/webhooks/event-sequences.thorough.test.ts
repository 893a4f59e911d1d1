import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { WaitingDelivery } from '../../../src/changes/webhooks/attempts-store.ts'
import { newDelivery } from '../../../src/changes/webhooks/deliveries-store.ts'
import { hintOf } from '../../../src/changes/webhooks/hint.ts'
import type { Webhook, WebhookDelivery } from '../../../src/changes/webhooks/model.ts'
import {
  allCandidates,
  type ChosenAttempts,
  chosenOf,
  storedCandidates,
} from '../../../src/changes/webhooks/send/attempts-to-begin.ts'
import type { NewHints } from '../../../src/changes/webhooks/send/new-hints.ts'
import {
  atRest,
  attemptsAt,
  type DueWebhook,
  type LookedWebhook,
  next,
  type SeenWebhook,
  type SenderEffect,
  type SenderEvent,
} from '../../../src/changes/webhooks/send/state.ts'
import { newWebhook, type WebhookId } from '../../../src/changes/webhooks/store.ts'
import { toVersion } from '../../../src/host-clock/format.ts'
import type { Turn } from '../../../src/platform/outgoing/turns.ts'
import { runs } from '../../support/soak.ts'

/*
 * The sender's decisions, driven by any sequence of events in a small world: two hosts with two webhooks each, feeds,
 * stored deliveries, turns at an origin, and a process that may fail, lose its lease or be killed at any point. The
 * world does what `sender.ts` and the database do; what is decided is decided by the code of the service.
 */

const hosts = [1, 2]
const start = Date.parse('2026-11-26T12:00:00Z')
const turnsPerOrigin = 10
const turnMilliseconds = 1020
const lostMilliseconds = 20_000
const pauseMilliseconds = 5000

type Op =
  | { op: 'change'; host: number; booking: number; times: number }
  /** Takes the next steps of effects in progress, which may fail. */
  | { op: 'go on'; which: number; fails: boolean; times: number }
  | { op: 'end attempts'; which: number; isDelivered: boolean; times: number }
  | { op: 'wait'; milliseconds: number }
  | { op: 'turn off or on'; host: number; id: number }
  | { op: 'end a key'; host: number; id: number }
  /** Renews the lease too late, or in time again. */
  | { op: 'be late' }
  /** Kills the process; another one takes over once the lease has ended. */
  | { op: 'die' }

const host = fc.constantFrom(...hosts)
const id = fc.constantFrom(1, 2)
const which = fc.nat(20)
const ops: fc.Arbitrary<Op[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        op: fc.constant('change' as const),
        host,
        booking: fc.integer({ min: 1, max: 4 }),
        times: fc.constantFrom(1, 1, 2, 15),
      }),
    },
    {
      weight: 20,
      arbitrary: fc.record({
        op: fc.constant('go on' as const),
        which,
        fails: fc.nat(9).map((n) => n === 0),
        times: fc.constantFrom(1, 2, 4),
      }),
    },
    {
      weight: 10,
      arbitrary: fc.record({
        op: fc.constant('end attempts' as const),
        which,
        isDelivered: fc.boolean(),
        times: fc.constantFrom(1, 3, 10),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        op: fc.constant('wait' as const),
        milliseconds: fc.constantFrom(1, 50, 200, 250, 1000, 6000),
      }),
    },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('turn off or on' as const), host, id }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('end a key' as const), host, id }) },
    { weight: 1, arbitrary: fc.constant({ op: 'be late' } as const) },
    { weight: 1, arbitrary: fc.constant({ op: 'die' } as const) },
  ),
  { minLength: 20, maxLength: 150, size: 'max' },
)

interface FeedRow {
  booking: number
  version: Date
}

/** A place of an origin's ten; free once its time has come. */
interface Slot {
  freeAt: number
}

type HintDelivery = WebhookDelivery & { next_attempt_at: Date | null }

type LookEffect = Extract<SenderEffect, { does: 'look' }>

/** An effect in progress. Its first step reads; its second one writes, and tells the sender what has happened. */
interface Running {
  effect: SenderEffect
  second?: (fails: boolean) => void
}

interface RunningAttempt {
  webhook: WebhookId
  delivery: HintDelivery
  version: string
  slot: Slot | null
}

class World {
  private at = 0
  private state = atRest
  private isInTime = true
  private running: Running[] = []
  private timers: { at: number; event: SenderEvent }[] = []
  private attempts: RunningAttempt[] = []
  private readonly webhooks: Webhook[]
  private readonly deliveries: HintDelivery[] = []
  private readonly feeds = new Map<number, FeedRow[]>(hosts.map((owner) => [owner, []]))
  private readonly endedKeys = new Set<number>()
  private slots: Slot[] = []
  private posts: { webhook: string; at: number }[] = []
  /** The newest version of each booking that each webhook has received. */
  private readonly received = new Map<string, string>()
  private versions = 0

  /** @param isLimited true if all webhooks share an origin with ten turns, as in the sandbox */
  constructor(private readonly isLimited: boolean) {
    this.webhooks = hosts.flatMap((owner_id) =>
      [1, 2].map((id) =>
        newWebhook({
          owner_id,
          id,
          url: 'https://receiver.example/hooks',
          events: ['booking.changed'],
          created_by: 10 * owner_id + id,
          created_at: new Date(start),
          secrets: [],
          bookings_seen: new Date(0),
          messages_seen: new Date(0),
        }),
      ),
    )
    this.tell({ is: 'noted', host: 'any' })
  }

  run(op: Op): void {
    switch (op.op) {
      case 'change':
        for (let index = 0; index < op.times; index += 1) this.change(op.host, op.booking + index)
        break
      case 'go on':
        for (let index = 0; index < op.times; index += 1) this.goOn(op.which, op.fails)
        break
      case 'end attempts':
        for (let index = 0; index < op.times; index += 1) this.endAttempt(op.which, op.isDelivered)
        break
      case 'wait':
        this.wait(op.milliseconds)
        break
      case 'turn off or on':
        this.turnOffOrOn(this.webhookOf(op.host, op.id))
        break
      case 'end a key':
        this.endedKeys.add(10 * op.host + op.id)
        break
      case 'be late':
        this.isInTime = !this.isInTime
        break
      case 'die':
        this.die()
        break
    }
  }

  /** Lets everything succeed, and returns what is left undone. */
  settle(): unknown[] {
    this.isInTime = true
    for (let rounds = 0; rounds < 240; rounds += 1) {
      while (this.running.length > 0) this.goOn(0, false)
      while (this.attempts.length > 0) this.endAttempt(0, true)
      this.wait(250)
    }
    const waiting = this.deliveries.filter(({ status }) => status === 'waiting')
    const behind = this.webhooks.filter((webhook) => webhook.enabled && this.rowsAfter(webhook).length > 0)
    return [...waiting, ...behind]
  }

  /** Returns the bookings whose newest version a webhook that was never off has not received. */
  missed(): string[] {
    const missed: string[] = []
    for (const webhook of this.webhooks.filter(({ last_outage, enabled }) => enabled && !last_outage))
      for (const { booking, version } of this.feeds.get(webhook.owner_id) ?? [])
        if (this.received.get(`${nameOf(webhook)}/${booking}`) !== toVersion(version))
          missed.push(`${nameOf(webhook)}/${booking}`)
    return missed
  }

  private get now(): Date {
    return new Date(start + this.at)
  }

  private tell(event: SenderEvent): void {
    const moment = { at: this.at, clock: () => this.now, mayWork: this.isInTime }
    const { state, effects } = next(this.state, event, moment)
    this.state = state
    for (const effect of effects) {
      if (effect.does === 'note')
        this.timers.push({ at: this.at + effect.inMilliseconds, event: { is: 'noted', host: effect.host } })
      else if (effect.does === 'wake')
        this.timers.push({ at: this.at + effect.inMilliseconds, event: { is: 'woken' } })
      else this.running.push({ effect })
    }
    const looks = this.running.flatMap(({ effect }) => (effect.does === 'look' ? [effect.host] : []))
    expect(new Set(looks).size, 'a host is looked at twice at the same time').toBe(looks.length)
  }

  private webhookOf(host: number, id: number): Webhook {
    return this.webhooks.find((one) => one.owner_id === host && one.id === id) as Webhook
  }

  private change(host: number, booking: number): void {
    this.versions += 1
    const rows = (this.feeds.get(host) ?? []).filter((row) => row.booking !== booking)
    rows.push({ booking, version: new Date(start + this.versions * 1000) })
    this.feeds.set(host, rows)
    this.tell({ is: 'noted', host })
  }

  private rowsAfter({ owner_id, bookings_seen }: Webhook): FeedRow[] {
    return (this.feeds.get(owner_id) ?? []).filter(({ version }) => version > bookings_seen)
  }

  private goOn(which: number, fails: boolean): void {
    const running = this.running[which % Math.max(1, this.running.length)]
    if (running?.second) running.second(fails)
    else if (running?.effect.does === 'look') this.beginLook(running, running.effect, fails)
    else if (running) this.beginReading(running, fails)
  }

  private beginReading(running: Running, fails: boolean): void {
    const found = this.read(running.effect)
    const end = (isLost: boolean) => this.end(running, isLost ? { is: 'round failed' } : found)
    if (fails) end(true)
    else running.second = end
  }

  private beginLook(running: Running, { host, off, due }: LookEffect, fails: boolean): void {
    if (fails) {
      this.end(running, { is: 'look failed', host })
      return
    }
    for (const { webhook } of off) this.turnOff(this.webhookOf(host, webhook.id))
    const chosen = due.map((seen) => this.choose(seen))
    const chosenAt = this.now
    running.second = (storingFails) => {
      const webhooks = storingFails ? null : this.store(chosen, chosenAt)
      for (const { slots } of chosen) this.giveBack(slots)
      this.end(running, webhooks ? { is: 'looked', host, webhooks } : { is: 'look failed', host })
    }
  }

  private end(running: Running, event: SenderEvent): void {
    this.running.splice(this.running.indexOf(running), 1)
    this.tell(event)
  }

  private read(effect: SenderEffect): SenderEvent {
    if (effect.does !== 'read')
      return { is: 'listed', hosts: hosts.filter((host) => this.enabledOf(host).length > 0) }
    return { is: 'read', webhooks: effect.hosts.flatMap((host) => this.seen(host)) }
  }

  private enabledOf(host: number): Webhook[] {
    return this.webhooks.filter(({ owner_id, enabled }) => owner_id === host && enabled)
  }

  private waitingOf({ owner_id, id }: WebhookId): WaitingDelivery[] {
    const mine = this.deliveries.filter((one) => one.owner_id === owner_id && one.webhook_id === id)
    return mine.filter((one): one is WaitingDelivery => one.status === 'waiting')
  }

  private seen(host: number): SeenWebhook[] {
    return this.enabledOf(host).map((webhook) => {
      const waiting = this.waitingOf(webhook)
      const times = waiting.map(({ next_attempt_at }) => next_attempt_at.getTime())
      const facts = {
        waiting: waiting.length,
        nextAttemptAt: times.length > 0 ? new Date(Math.min(...times)) : null,
        isBehind: this.rowsAfter(webhook).length > 0,
        failingSince: null,
        isKeyUsable: !this.endedKeys.has(webhook.created_by),
      }
      return { webhook: { ...webhook }, facts, clock: undefined }
    })
  }

  /** As `chooseAttempts` does. */
  private choose(seen: DueWebhook): { chosen: ChosenAttempts; slots: Slot[] } {
    const { webhook, facts } = seen
    expect(facts.isKeyUsable, 'hints are looked for although the key has ended').toBe(true)
    const attempts = attemptsAt(this.state, webhook, this.at)
    const waiting = this.waitingOf(webhook)
    const others = waiting.filter((one) => one.in_flight && one.next_attempt_at > this.now)
    const inFlight = new Map([...others.map(idAndBooking), ...attempts.inFlight])
    const busy = new Set(inFlight.values())
    const due = waiting
      .filter((one) => one.next_attempt_at <= this.now && !inFlight.has(String(one._id)))
      .filter(({ booking_id }) => !busy.has(booking_id))
      .sort((one, other) => one.next_attempt_at.getTime() - other.next_attempt_at.getTime())
    const found = { inFlight, due: seen.hasDueHint ? due.slice(0, 11) : [] }
    const stored = storedCandidates({ ...seen, attempts }, found)
    const candidates = allCandidates(stored, this.readNew(webhook, stored.mustReadFeeds))
    const slots: Slot[] = []
    const turns: Turn[] = []
    for (let taken = 0; taken < candidates.begins; taken += 1) {
      const slot = this.takeSlot()
      if (!slot) break
      slots.push(slot)
      turns.push(turn)
    }
    return { chosen: chosenOf(candidates, turns), slots }
  }

  private readNew(webhook: Webhook, mustRead: boolean): NewHints {
    const rows = this.rowsAfter(webhook)
    if (!mustRead) return { hints: [], mayBeMore: rows.length > 0, emptyUntil: null }
    const hints = rows.slice(0, 20).map(({ booking, version }) => ({
      hint: hintOf('booking.changed', { booking_id: booking, listing_id: 1, version: toVersion(version) }),
      trace: null,
      seen: { bookings_seen: version, messages_seen: webhook.messages_seen },
    }))
    return { hints, mayBeMore: rows.length >= 20, emptyUntil: null }
  }

  private takeSlot(): Slot | null {
    this.slots = this.slots.filter(({ freeAt }) => freeAt > this.at)
    if (this.isLimited && this.slots.length >= turnsPerOrigin) return null
    // A dead process's turn is free after 20 s.
    const slot = { freeAt: this.at + lostMilliseconds }
    this.slots.push(slot)
    return slot
  }

  /** Frees the turns that no attempt has taken. */
  private giveBack(slots: Slot[]): void {
    for (const slot of slots) slot.freeAt = this.at
  }

  /** Stores the chosen attempts and begins them; returns null if a webhook has changed meanwhile. */
  private store(
    choices: { chosen: ChosenAttempts; slots: Slot[] }[],
    chosenAt: Date,
  ): LookedWebhook[] | null {
    const hasChanged = choices.some(({ chosen: { webhook, positions } }) => {
      const stored = this.webhookOf(webhook.owner_id, webhook.id)
      const isSame = stored.enabled && +stored.bookings_seen === +webhook.bookings_seen
      return positions !== null && !isSame
    })
    if (hasChanged) return null
    return choices.map(({ chosen, slots }) => {
      const { webhook, look } = chosen
      const begun: HintDelivery[] = []
      for (const found of chosen.stored) {
        const stored = this.waitingOf(webhook).find(({ _id }) => _id === found._id)
        if (!stored || stored.next_attempt_at > this.now) continue
        stored.attempts += 1
        begun.push(stored)
      }
      for (const { hint, begins } of chosen.created) {
        const mergeable = this.waitingOf(webhook).find(
          (one) => one.attempts === 0 && one.booking_id === hint.data.booking_id,
        )
        if (!begins && mergeable) {
          mergeable.payload = hint
          continue
        }
        const made = newDelivery({ webhook, payload: hint, now: chosenAt, begins, trace: null })
        this.deliveries.push(made)
        if (begins) begun.push(made)
      }
      if (chosen.positions) Object.assign(this.webhookOf(webhook.owner_id, webhook.id), chosen.positions)
      for (const delivery of begun) this.begin(webhook, delivery, slots.shift())
      return {
        webhook,
        look,
        begun: begun.map((one) => ({ id: String(one._id), booking: one.booking_id })),
      }
    })
  }

  /** Begins an attempt; it must keep all limits of decisions §21. */
  private begin(webhook: Webhook, delivery: HintDelivery, slot: Slot | undefined): void {
    const name = nameOf(webhook)
    expect(this.webhookOf(webhook.owner_id, webhook.id).enabled, 'a webhook that is off gets a hint').toBe(
      true,
    )
    expect(slot, 'an attempt begins without a turn').toBeDefined()
    const own = this.attempts.filter((one) => nameOf(one.webhook) === name).map((one) => one.delivery)
    const lost = this.waitingOf(webhook).filter(
      (one) => one.in_flight && one.next_attempt_at > this.now && !own.includes(one),
    )
    const inFlight = [...own, ...lost].filter((one) => one !== delivery)
    expect(inFlight.length, 'attempts in flight to a webhook').toBeLessThan(10)
    const bookings = inFlight.map(({ booking_id }) => booking_id)
    expect(bookings, 'a second attempt for a booking').not.toContain(delivery.booking_id)
    const recent = this.posts.filter(({ at }) => at > this.at - 1000)
    expect(
      recent.filter((post) => post.webhook === name).length,
      'attempts to a webhook in a second',
    ).toBeLessThan(20)
    if (this.isLimited)
      expect(recent.length, 'attempts to an origin in a second').toBeLessThan(turnsPerOrigin)
    this.posts = [...recent, { webhook: name, at: this.at }]
    delivery.in_flight = true
    delivery.next_attempt_at = new Date(+this.now + lostMilliseconds)
    const { version } = (delivery.payload as ReturnType<typeof hintOf>).data
    this.attempts.push({ webhook, delivery, version, slot: slot as Slot })
  }

  private endAttempt(which: number, isDelivered: boolean): void {
    const attempt = this.attempts[which % Math.max(1, this.attempts.length)]
    if (!attempt) return
    this.attempts.splice(this.attempts.indexOf(attempt), 1)
    const { webhook, delivery, version, slot } = attempt
    if (slot) slot.freeAt = this.at + turnMilliseconds
    delivery.in_flight = false
    if (isDelivered) {
      delivery.status = 'delivered'
      delivery.next_attempt_at = null
      const name = `${nameOf(webhook)}/${delivery.booking_id}`
      // A hint that is attempted again may arrive after a newer one.
      if (version > (this.received.get(name) ?? '')) this.received.set(name, version)
    } else if (delivery.status === 'waiting') {
      delivery.next_attempt_at = new Date(+this.now + pauseMilliseconds)
    }
    this.tell({ is: 'attempt ended', webhook, id: String(delivery._id), isDelivered })
  }

  private wait(milliseconds: number): void {
    const until = this.at + milliseconds
    for (;;) {
      const tickAt = Math.floor(this.at / 1000 + 1) * 1000
      const [first] = this.timers.sort((one, other) => one.at - other.at)
      const at = Math.min(tickAt, first?.at ?? tickAt)
      if (at > until) break
      this.at = at
      if (first && first.at === at) {
        this.timers.shift()
        this.tell(first.event)
      } else if (this.isInTime) this.tell({ is: 'tick' })
    }
    this.at = until
  }

  private turnOff(webhook: Webhook): void {
    if (!webhook.enabled) return
    webhook.enabled = false
    webhook.last_outage = { bookings_after: webhook.bookings_seen, messages_after: webhook.messages_seen }
    for (const delivery of this.waitingOf(webhook)) delivery.status = 'failed'
    this.tell({ is: 'noted', host: webhook.owner_id })
  }

  private turnOffOrOn(webhook: Webhook): void {
    if (webhook.enabled) {
      this.turnOff(webhook)
      return
    }
    if (this.endedKeys.has(webhook.created_by)) return
    webhook.enabled = true
    webhook.bookings_seen = new Date(start + this.versions * 1000)
    this.tell({ is: 'noted', host: webhook.owner_id })
  }

  private die(): void {
    this.state = atRest
    this.running = []
    this.timers = []
    this.attempts = []
    this.isInTime = true
    // What a process has begun within the last second is known to it alone, but the lease lasts for longer.
    this.at += leaseMilliseconds
    this.tell({ is: 'noted', host: 'any' })
  }
}

/** Least duration of a lease that a killed process leaves behind. */
const leaseMilliseconds = 1500

const turn: Turn = { isFresh: () => true, begin() {}, sent() {}, end() {}, giveBack() {} }

const idAndBooking = ({ _id, booking_id }: WebhookDelivery): [string, number | null] => [
  String(_id),
  booking_id,
]

function nameOf({ owner_id, id }: WebhookId): string {
  return `${owner_id}/${id}`
}

test('whatever happens in whatever order, attempts keep the limits, and each hint is sent in the end', () => {
  fc.assert(
    fc.property(ops, fc.boolean(), (sequence, isLimited) => {
      const world = new World(isLimited)
      for (const op of sequence) world.run(op)
      expect(world.settle()).toEqual([])
      expect(world.missed()).toEqual([])
    }),
    runs(100, 1000),
  )
})
