import { expect, test } from 'vitest'
import { openLog } from '../../../src/platform/log.ts'
import { leaseModel } from '../../../src/platform/mongo/turns/lease.ts'
import { LeasedRounds, type LeasedWork } from '../../../src/platform/mongo/turns/leased-rounds.ts'
import type { Sleeper } from '../../../src/platform/mongo/turns/work-watch.ts'
import { testApp } from '../../support/app.ts'
import { onScopeEnd } from '../../support/databases.ts'

const { db } = (await testApp()).live
const leaseMilliseconds = 10_000
const log = openLog('silent')

/** Two processes that share a lease, and the database's clock, which only the test moves. */
function twoProcesses() {
  const name = `rounds-${crypto.randomUUID()}`
  const events: string[] = []
  let now = Date.now()
  const sleepers = new Set<Sleeper>()
  const addSleeper = (sleeper: Sleeper) => {
    sleepers.add(sleeper)
    return { end: () => sleepers.delete(sleeper) }
  }
  const open = (process: string, work: Partial<LeasedWork> = {}) => {
    const state = { isSound: true, searches: 0, rounds: 0 }
    const clockWatch = { isSound: () => state.isSound, databaseNow: () => new Date(now) }
    const rounds = new LeasedRounds(
      { db, clockWatch, workWatch: { add: addSleeper }, log },
      {
        name,
        intervalMilliseconds: 10,
        leaseMilliseconds,
        shownBy: [],
        failureMessage: 'Cannot do the work',
        isNeeded: async () => {
          state.searches += 1
          return true
        },
        runRound: async () => {
          state.rounds += 1
          return true
        },
        onTaken: () => events.push(`${process} begins`),
        ...work,
      },
    )
    onScopeEnd(() => rounds.stop())
    rounds.start()
    return { rounds, state }
  }
  const leaseEnd = async () => (await leaseModel(db).findById(name).lean())?.until.getTime() ?? 0
  return {
    events,
    open,
    /** Lets almost a whole lease pass several times, each time until the holder has renewed it. */
    async passSeveralLeases() {
      for (let count = 0; count < 4; count += 1) {
        now += leaseMilliseconds - 1
        await expect.poll(leaseEnd).toBe(now + leaseMilliseconds)
      }
    },
    passLease: () => {
      now += leaseMilliseconds
    },
    /** Gives an answer to the processes that sleep; returns their number. */
    answer(isFound: boolean) {
      const asleep = [...sleepers].filter((sleeper) => sleeper.isAsleep())
      for (const sleeper of asleep) sleeper.onAnswer(isFound)
      return asleep.length
    },
    leaseEnd,
  }
}

/** Waits until a process has tried several times more to take the lease. */
async function triesAgain({ state }: { state: { searches: number } }): Promise<void> {
  const before = state.searches
  await expect.poll(() => state.searches).toBeGreaterThan(before + 3)
}

test('one process at a time works, and when it stops, the other takes over at once', async () => {
  const { open, events } = twoProcesses()
  const first = open('first')
  await expect.poll(() => first.state.rounds).toBeGreaterThan(3)
  const second = open('second')
  await triesAgain(second)
  expect(second.state.rounds).toBe(0)
  await first.rounds.stop()
  const { rounds } = first.state
  await expect.poll(() => second.state.rounds).toBeGreaterThan(3)
  expect(events).toEqual(['first begins', 'second begins'])
  expect(first.state.rounds).toBe(rounds)
})

test('the lease is renewed during a long round, and a process that stops keeps it until the round has ended', async () => {
  const { open, events, passSeveralLeases } = twoProcesses()
  const gate = Promise.withResolvers<void>()
  const first = open('first', {
    runRound: async () => {
      events.push('long round')
      await gate.promise
      events.push('round ends')
      return true
    },
    drain: async () => {
      events.push('drained')
    },
  })
  await expect.poll(() => events).toEqual(['first begins', 'long round'])
  const second = open('second')
  await passSeveralLeases()
  const stopping = first.rounds.stop()
  expect(first.rounds.mayWork()).toBe(false)
  await passSeveralLeases()
  await triesAgain(second)
  gate.resolve()
  await stopping
  await expect.poll(() => second.state.rounds).toBeGreaterThan(0)
  expect(events).toEqual(['first begins', 'long round', 'round ends', 'drained', 'second begins'])
})

test('the lease is renewed until a long round ends, even if nothing more is to be done after it', async () => {
  const { open, passSeveralLeases } = twoProcesses()
  const gate = Promise.withResolvers<void>()
  let isNeeded = true
  const one = open('one', {
    isNeeded: async () => isNeeded,
    runRound: async () => {
      isNeeded = false
      await gate.promise
      return true
    },
  })
  await expect.poll(() => isNeeded).toBe(false)
  await passSeveralLeases()
  expect(one.rounds.mayWork()).toBe(true)
  gate.resolve()
})

test('a process whose clock has become wrong finishes what is in progress, and another one takes over', async () => {
  const { open, events } = twoProcesses()
  const gate = Promise.withResolvers<void>()
  const first = open('first', {
    onLost: () => events.push('first begins nothing more'),
    drain: () => gate.promise.then(() => void events.push('first is done')),
  })
  await expect.poll(() => first.state.rounds).toBeGreaterThan(0)
  const second = open('second')
  first.state.isSound = false
  await expect.poll(() => events.at(-1)).toBe('first begins nothing more')
  await triesAgain(second)
  gate.resolve()
  await expect.poll(() => second.state.rounds).toBeGreaterThan(0)
  expect(events).toEqual(['first begins', 'first begins nothing more', 'first is done', 'second begins'])
})

test('a process that could not renew its lease in time learns that another one has it', async () => {
  const { open, events, passLease } = twoProcesses()
  const stuck = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  let mustWait = false
  const first = open('first', {
    isNeeded: async () => {
      if (mustWait) {
        stuck.resolve()
        await gate.promise
      }
      return true
    },
    onLost: () => events.push('first lost it'),
  })
  await expect.poll(() => first.state.rounds).toBeGreaterThan(0)
  mustWait = true
  await stuck.promise
  const second = open('second')
  await triesAgain(second)
  passLease()
  expect(first.rounds.mayWork()).toBe(false)
  await expect.poll(() => second.state.rounds).toBeGreaterThan(0)
  mustWait = false
  gate.resolve()
  await expect.poll(() => events.at(-1)).toBe('first lost it')
  expect(events.slice(0, 2)).toEqual(['first begins', 'second begins'])
})

test('a process with nothing to do takes no lease and sleeps, and searches again when it is woken', async () => {
  const { open } = twoProcesses()
  let isNeeded = false
  let searches = 0
  const idle = open('idle', {
    isNeeded: async () => {
      searches += 1
      return isNeeded
    },
  })
  await expect.poll(() => searches).toBe(1)
  const busy = open('busy')
  await expect.poll(() => busy.state.rounds).toBeGreaterThan(0)
  await busy.rounds.stop()
  isNeeded = true
  const late = open('late')
  await expect.poll(() => late.state.rounds).toBeGreaterThan(0)
  await late.rounds.stop()
  expect({ searches, rounds: idle.state.rounds }).toEqual({ searches: 1, rounds: 0 })
  idle.rounds.wake()
  await expect.poll(() => idle.state.rounds).toBeGreaterThan(0)
})

test('after a round that found nothing to do, the rounds sleep until they are woken', async () => {
  const { open } = twoProcesses()
  const one = open('one', { runRound: async () => false })
  await expect.poll(() => one.rounds.mayWork()).toBe(true)
  await triesAgain(open('other'))
  expect(one.state.searches).toBe(1)
  one.rounds.wake()
  await expect.poll(() => one.state.searches).toBe(2)
})

test('rounds that are woken while one is running do another, however little the running one finds', async () => {
  const { open } = twoProcesses()
  const gate = Promise.withResolvers<void>()
  let rounds = 0
  const one = open('one', {
    runRound: async () => {
      rounds += 1
      if (rounds === 1) await gate.promise
      return false
    },
  })
  await expect.poll(() => rounds).toBe(1)
  one.rounds.wake()
  await triesAgain(open('other'))
  gate.resolve()
  await expect.poll(() => rounds).toBe(2)
})

test('a round that fails is followed by the next one', async () => {
  const { open } = twoProcesses()
  let rounds = 0
  open('one', {
    runRound: async () => {
      rounds += 1
      throw new Error('The first rounds fail')
    },
  })
  await expect.poll(() => rounds).toBeGreaterThan(2)
})

test('rounds that sleep are woken by the answer that there is work, and not by the answer that there is none', async () => {
  const { open, answer } = twoProcesses()
  let mayFind = false
  const one = open('one', { runRound: async () => mayFind })
  await expect.poll(() => answer(false)).toBe(1)
  const { searches } = one.state
  await triesAgain(open('other'))
  expect(one.state.searches).toBe(searches)
  mayFind = true
  expect(answer(true)).toBe(1)
  await triesAgain(one)
  expect(answer(false)).toBe(0)
})

test('rounds that keep their lease renew it while they sleep, and others let it expire', async () => {
  const { open, answer, passLease, leaseEnd } = twoProcesses()
  open('keeper', { keepsLease: true, runRound: async () => false })
  await expect.poll(() => answer(false)).toBe(1)
  const before = await leaseEnd()
  passLease()
  // Answers keep coming, because one that comes while a renewal is under way begins no other.
  await expect
    .poll(() => {
      answer(false)
      return leaseEnd()
    })
    .toBeGreaterThan(before)

  const other = twoProcesses()
  other.open('sleeper', { runRound: async () => false })
  await expect.poll(() => other.answer(false)).toBe(1)
  const end = await other.leaseEnd()
  other.passLease()
  other.answer(false)
  await triesAgain(other.open('standby', { name: 'something else' }))
  expect(await other.leaseEnd()).toBe(end)
})
