import { afterAll, expect, test, vi } from 'vitest'
import { openMongo } from '../../../src/platform/mongo/connection.ts'
import { acquireLease, isAnyLeaseHeld } from '../../../src/platform/mongo/turns/lease.ts'
import { LeasedSlots } from '../../../src/platform/mongo/turns/slots.ts'
import { OriginTurns, type Pace, type Turn } from '../../../src/platform/outgoing/turns.ts'
import { MemorySlots } from '../../../src/platform/slots.ts'
import { ownDatabase } from '../../support/databases.ts'

const db = await openMongo(await ownDatabase())
afterAll(() => db.close())

const pace: Pace = { name: 'test', limit: 4, requestMilliseconds: 20_000, answerMilliseconds: null }
const url = 'https://files.example.com/a'

/** Takes turns, gives them back, and returns their number. */
async function countFree(turns: OriginTurns, at = url): Promise<number> {
  const taken = await turns.take(at, 8)
  for (const turn of taken) turn.giveBack()
  return taken.length
}

test('a request holds its turn for as long as it lasts, and for a second more', async ({
  onTestFinished,
}) => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const turns = new OriginTurns(new MemorySlots(), pace)
  const taken = await turns.take(url, 8)
  for (const turn of taken) turn.begin()
  vi.advanceTimersByTime(1000)
  for (const turn of taken) turn.sent()
  vi.advanceTimersByTime(18_900)
  const withoutResponse = await countFree(turns)
  const atAnotherOrigin = await countFree(turns, 'https://files.example.com:8443/a')
  const [first] = taken as [Turn, ...Turn[]]
  first.end()
  vi.advanceTimersByTime(1000)
  const inSecondAfter = await countFree(turns)
  vi.advanceTimersByTime(20)
  const afterSecond = await countFree(turns)
  expect({ taken: taken.length, withoutResponse, atAnotherOrigin, inSecondAfter, afterSecond }).toEqual({
    taken: 4,
    withoutResponse: 0,
    atAnotherOrigin: 4,
    inSecondAfter: 0,
    afterSecond: 1,
  })
})

/** Two processes that share turns through the database, whose clock only the test moves. */
function twoProcesses() {
  const clock = { now: Date.now() }
  const clockWatch = { databaseNow: () => new Date(clock.now) }
  const open = () => new OriginTurns(new LeasedSlots({ db, clockWatch }), pace)
  return { clock, one: open(), other: open(), at: `https://${crypto.randomUUID()}.example.com/` }
}

test('without Redis, two processes together never have more than four turns, and a turn that was given back is the next one', async () => {
  const { one, other, at } = twoProcesses()
  const taken = (await Promise.all([one, other, one, other].map((process) => process.take(at, 2)))).flat()
  expect(taken.length).toBeLessThanOrEqual(4)
  // Processes that ask at the same moment may both be refused a free turn.
  while (taken.length < 4) taken.push((await other.wait(at, 5000)) as Turn)
  expect({ one: await one.take(at, 8), other: await other.take(at, 8) }).toEqual({ one: [], other: [] })
  taken[0]?.giveBack()
  const next = await other.wait(at, 5000)
  expect({ next: next?.isFresh(), left: await one.take(at, 1) }).toEqual({ next: true, left: [] })
  for (const turn of [...taken, next]) turn?.giveBack()
  await expect.poll(() => countFree(one, at)).toBeGreaterThan(0)
})

test("a killed process's turns are free once its requests have certainly ended, and it cannot free those of others", async () => {
  const { clock, one, other, at } = twoProcesses()
  const ofKilled: Turn[] = []
  while (ofKilled.length < 4) ofKilled.push(...(await one.take(at, 4 - ofKilled.length)))
  clock.now += 25_900
  const early = await other.take(at, 4)
  clock.now += 200
  const late: Turn[] = []
  while (late.length < 4) late.push(...(await other.take(at, 4 - late.length)))
  for (const turn of ofKilled) turn.giveBack()
  late[0]?.giveBack()
  const next = await one.wait(at, 5000)
  expect({ early: early.length, late: late.length, next: next?.isFresh() }).toEqual({
    early: 0,
    late: 4,
    next: true,
  })
  expect(await one.take(at, 4), 'no turn but the one that was given back').toEqual([])
})

test('wait() returns null once its time has passed', async () => {
  const turns = new OriginTurns(new MemorySlots(), pace)
  await turns.take(url, 4)
  expect(await turns.wait(url, 250)).toBeNull()
})

test('a turn of a process that has stopped does not look like a running service', async () => {
  const { clock, one, at } = twoProcesses()
  const now = new Date(clock.now)
  const [turn] = await one.take(at, 1)
  expect({ turn: turn?.isFresh(), isHeld: await isAnyLeaseHeld(db, now) }).toEqual({
    turn: true,
    isHeld: false,
  })
  await acquireLease(db, { name: 'work', owner: 'process' }, now, new Date(clock.now + 1000))
  expect(await isAnyLeaseHeld(db, now)).toBe(true)
})
