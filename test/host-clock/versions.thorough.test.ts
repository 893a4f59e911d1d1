import fc from 'fast-check'
import type { CommandStartedEvent } from 'mongodb'
import { afterAll, expect, test } from 'vitest'
import { toVersion } from '../../src/host-clock/format.ts'
import { hostClockModel } from '../../src/host-clock/model.ts'
import {
  advanceHostClock,
  nextMessageVersions,
  startHostClock,
  type Tick,
  versionAt,
} from '../../src/host-clock/store.ts'
import { type Db, openMongo } from '../../src/platform/mongo/connection.ts'
import { inTransaction } from '../../src/platform/mongo/turns/transactions.ts'
import { testApp } from '../support/app.ts'
import { mongodbUrlOf } from '../support/databases.ts'
import { runs } from '../support/soak.ts'

const { db } = (await testApp()).live
const noon = Date.parse('2030-05-01T12:00:00Z') / 1000

let lastOwner = 900_000_000

/** Makes changes at 12:00:00.900 whose clock stands at the given seconds from noon; returns their places. */
async function advanceFrom(
  last: { bookings: number; messages: number },
  made: { changes: number; messages: number },
) {
  lastOwner += 1
  const ownerId = lastOwner
  await startHostClock(db, ownerId, { last: noon + last.bookings, messages_last: noon + last.messages })
  const now = new Date(noon * 1000 + 900)
  const tick = await inTransaction(db, `host/${ownerId}`, (session) =>
    advanceHostClock(db, session, ownerId, { now, ...made }),
  )
  const versionsFrom = (first: Date, count: number) =>
    Array.from({ length: count }, (_, index) => toVersion(versionAt(first, index)).slice(-8))
  return {
    bookings: versionsFrom(tick.firstVersion, made.changes),
    messages: versionsFrom(tick.firstMessageVersion, made.messages),
    firstSequence: tick.firstSequence,
  }
}

test.each([
  { is: 'an hour behind', last: -3600, first: '12:00:00', second: '12:00:01' },
  { is: 'a second behind', last: -1, first: '12:00:00', second: '12:00:01' },
  { is: 'in the current second', last: 0, first: '12:00:01', second: '12:00:02' },
  { is: 'a minute ahead', last: 60, first: '12:01:01', second: '12:01:02' },
])('a clock that is $is assigns $first to one change, and $second to the next', async (row) => {
  const { last, first, second } = row
  const from = { bookings: last, messages: 0 }
  expect(await advanceFrom(from, { changes: 1, messages: 0 })).toMatchObject({ bookings: [first] })
  expect(await advanceFrom(from, { changes: 2, messages: 0 })).toEqual({
    bookings: [first, second],
    messages: [],
    firstSequence: 1,
  })
})

test.each([
  { bookings: -60, messages: 60, made: { bookings: '12:00:00', messages: '12:01:01' } },
  { bookings: 60, messages: -60, made: { bookings: '12:01:01', messages: '12:00:00' } },
  { bookings: -60, messages: -60, made: { bookings: '12:00:00', messages: '12:00:00' } },
])('bookings and messages are counted apart: from $bookings s and $messages s', async (row) => {
  const { made, ...last } = row
  expect(await advanceFrom(last, { changes: 1, messages: 1 })).toMatchObject({
    bookings: [made.bookings],
    messages: [made.messages],
  })
})

/** What a process remembers of clocks belongs to its connection, so each of these stands for a process of its own. */
const others = await Promise.all([1, 2].map(() => openMongo(mongodbUrlOf(db.name))))
afterAll(() => Promise.all(others.map((other) => other.close())))
const processes: Db[] = [db, ...others]

/** A new host whose clock stands at the given seconds from noon. */
async function hostAt(last: number, messages: number): Promise<number> {
  lastOwner += 1
  await startHostClock(db, lastOwner, { last: noon + last, messages_last: noon + messages })
  return lastOwner
}

/** Bookings, each of which may have a message, that a process writes at a time. */
interface Write {
  process: number
  /** Seconds from noon of that process's clock. */
  at: number
  changes: number
  messages: number
}

function carryOutBy(
  by: Db,
  ownerId: number,
  { at, changes, messages }: Omit<Write, 'process'>,
): Promise<Tick> {
  const now = new Date((noon + at) * 1000 + 900)
  return inTransaction(by, `host/${ownerId}`, (session) =>
    advanceHostClock(by, session, ownerId, { now, changes, messages }),
  )
}

const carryOut = (ownerId: number, write: Write) => carryOutBy(processes[write.process] as Db, ownerId, write)

/** The rule of decisions §9 in its plainest form: one version after the other, in seconds from noon. */
class PlainClock {
  sequence = 0

  constructor(
    private last: number,
    private messagesLast: number,
  ) {}

  write({ at, changes, messages }: Write) {
    const firstSequence = this.sequence + 1
    this.sequence += changes
    const bookingVersions: number[] = []
    for (let count = 0; count < changes; count += 1) {
      this.last = Math.max(at, this.last + 1)
      bookingVersions.push(this.last)
    }
    const messageVersions: number[] = []
    for (let count = 0; count < messages; count += 1) {
      this.messagesLast = Math.max(at, this.messagesLast + 1)
      messageVersions.push(this.messagesLast)
    }
    return { firstSequence, bookingVersions, messageVersions }
  }

  /** Another process sets the clock, which nobody else sees. */
  set(last: number, messagesLast: number) {
    this.last = last
    this.messagesLast = messagesLast
  }
}

function placesOf(tick: Tick, { changes, messages }: Write) {
  const secondsFrom = (first: Date, count: number) =>
    Array.from({ length: count }, (_, index) => versionAt(first, index).getTime() / 1000 - noon)
  return {
    firstSequence: tick.firstSequence,
    bookingVersions: secondsFrom(tick.firstVersion, changes),
    messageVersions: secondsFrom(tick.firstMessageVersion, messages),
  }
}

const seconds = fc.integer({ min: -5, max: 5 })
const write: fc.Arbitrary<Write> = fc
  .record({ process: fc.nat(2), at: seconds, changes: fc.integer({ min: 1, max: 3 }), messages: fc.nat(3) })
  .map((one) => ({ ...one, messages: Math.min(one.messages, one.changes) }))
const settings = fc.record({ last: seconds, messages: seconds })

test('versions are those of the plainest rule, wherever processes with clocks of their own believe the clock stands', async () => {
  await fc.assert(
    fc.asyncProperty(
      settings,
      fc.array(fc.oneof({ weight: 4, arbitrary: write }, settings), { maxLength: 12 }),
      async (start, steps) => {
        const ownerId = await hostAt(start.last, start.messages)
        const plain = new PlainClock(start.last, start.messages)
        for (const step of steps) {
          if ('process' in step) {
            const tick = await carryOut(ownerId, step)
            expect(placesOf(tick, step)).toEqual(plain.write(step))
            continue
          }
          const moved = { last: noon + step.last, messages_last: noon + step.messages }
          await hostClockModel(db).updateOne({ _id: ownerId }, { $set: moved })
          plain.set(step.last, step.messages)
        }
      },
    ),
    runs(25, 300),
  )
})

test('versions of concurrent writes of several processes are those of the plainest rule in the order of their sequence', async () => {
  await fc.assert(
    fc.asyncProperty(settings, fc.array(write, { minLength: 2, maxLength: 6 }), async (start, writes) => {
      const ownerId = await hostAt(start.last, start.messages)
      const places = await Promise.all(
        writes.map(async (one) => ({ one, ...placesOf(await carryOut(ownerId, one), one) })),
      )
      const plain = new PlainClock(start.last, start.messages)
      const inOrder = places.toSorted((one, other) => one.firstSequence - other.firstSequence)
      for (const { one, ...place } of inOrder) expect(place).toEqual(plain.write(one))
    }),
    runs(20),
  )
})

/** Returns the updates of clocks that a connection sends while `work` runs. */
async function updatesDuring(by: Db, work: () => Promise<unknown>): Promise<object[]> {
  const updates: object[] = []
  const note = ({ commandName, command }: CommandStartedEvent) => {
    if (commandName === 'findAndModify' && command.findAndModify === 'host_clocks') updates.push(command)
  }
  by.getClient().on('commandStarted', note)
  await work().finally(() => by.getClient().off('commandStarted', note))
  return updates
}

test.each([
  { clock: 'a clock that no process has seen yet and that is behind', last: -60, seen: null, updates: 1 },
  { clock: 'a clock that is behind, as it was before', last: -60, seen: -50, updates: 1 },
  { clock: 'a clock that is ahead, as it was before', last: -60, seen: 60, updates: 1 },
  { clock: 'a clock that another process has moved ahead', last: 60, seen: null, updates: 2 },
])('$clock takes $updates update(s)', async ({ last, seen, updates }) => {
  const ownerId = await hostAt(last, last)
  const both = { changes: 1, messages: 1 }
  if (seen !== null) await carryOutBy(db, ownerId, { at: seen, ...both })
  const sent = await updatesDuring(db, () => carryOutBy(db, ownerId, { at: 0, ...both }))
  expect(sent).toHaveLength(updates)
})

test('a busy host, whose clock has reached the current second, takes one update for each change', async () => {
  const ownerId = await hostAt(-60, -60)
  const change = { at: 0, changes: 1, messages: 0 }
  const sent = await updatesDuring(db, async () => {
    for (let count = 0; count < 5; count += 1) await carryOutBy(db, ownerId, change)
  })
  expect(sent).toHaveLength(5)
})

test.each([
  { supposition: 'right', last: -60, messages: -60 },
  { supposition: 'wrong', last: 60, messages: 60 },
  { supposition: 'wrong of one counter', last: -60, messages: 60 },
])(
  'a transaction that supposes what is $supposition starts over if another has advanced the clock since it began',
  async (row) => {
    const ownerId = await hostAt(row.last, row.messages)
    const [, other] = processes as [Db, Db]
    const now = new Date(noon * 1000)
    const made = { now, changes: 1, messages: 1 }
    let attempts = 0
    let before: Tick | undefined
    const tick = await inTransaction(db, `host/${ownerId}`, async (session) => {
      attempts += 1
      // From now on, this transaction sees the clock as it is.
      await hostClockModel(db).collection.findOne({ _id: ownerId }, { session })
      before ??= await carryOutBy(other, ownerId, { at: 0, changes: 1, messages: 1 })
      return advanceHostClock(db, session, ownerId, made)
    })
    expect(attempts).toBe(2)
    expect(tick).toMatchObject({
      firstSequence: (before as Tick).firstSequence + 1,
      firstVersion: versionAt((before as Tick).firstVersion, 1),
      firstMessageVersion: versionAt((before as Tick).firstMessageVersion, 1),
    })
  },
)

test('versions of messages alone follow the same rule, and move no booking version', async () => {
  const ownerId = await hostAt(-60, 60)
  const versions: number[] = []
  for (const [process, at] of [0, 120, 120, 30].entries()) {
    const by = processes[process % processes.length] as Db
    const now = new Date((noon + at) * 1000)
    const first = await inTransaction(by, `host/${ownerId}`, (session) =>
      nextMessageVersions(by, session, ownerId, { now, count: 2 }),
    )
    versions.push(first.getTime() / 1000 - noon)
  }
  expect(versions).toEqual([61, 120, 122, 124])
  expect(await hostClockModel(db).findById(ownerId).lean()).toMatchObject({
    last: noon - 60,
    messages_last: noon + 125,
    sequence: 0,
  })
})
