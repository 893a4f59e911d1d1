import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import { KeyedQueue } from '../../src/platform/keyed-queue.ts'

const refusal = () => new DomainError('conflict', 'Too many wait', [], 1)

test('work with the same key runs in turn, and work with another key does not wait for it', async () => {
  const turns = new KeyedQueue(60_000, refusal)
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  const note = (name: string) => async () => void order.push(name)
  const first = turns.run('a', () => gate.promise.then(note('first')))
  const second = turns.run('a', note('second'))
  await turns.run('b', note('other'))
  gate.resolve()
  await Promise.all([first, second])
  expect(order).toEqual(['other', 'first', 'second'])
})

test('work is refused if its turn does not come in time, and never runs later', async () => {
  const turns = new KeyedQueue(20, refusal)
  const gate = Promise.withResolvers<void>()
  let isDone = false
  const first = turns.run('a', () => gate.promise)
  const late = turns.run('a', async () => {
    isDone = true
  })
  await expect(late).rejects.toThrow('Too many wait')
  gate.resolve()
  await first
  await turns.run('a', async () => {})
  expect(isDone).toBe(false)
})

test('as many run at a time as there are places, and a free place goes to who has waited longest', async () => {
  const turns = new KeyedQueue(60_000, refusal, 2)
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
  const begun: number[] = []
  const tasks = gates.map(({ promise }, index) =>
    turns.run('a', () => {
      begun.push(index)
      return promise
    }),
  )
  await Bun.sleep(0)
  expect(begun).toEqual([0, 1])
  gates[1]?.resolve()
  await tasks[1]
  await Bun.sleep(0)
  expect(begun).toEqual([0, 1, 2])
  for (const { resolve } of gates) resolve()
  await Promise.all(tasks)
  expect(begun).toEqual([0, 1, 2, 3])
})

test('an error in one piece of work does not affect the next', async () => {
  const turns = new KeyedQueue(60_000, refusal)
  const failed = turns.run('a', async () => {
    throw new Error('Its own')
  })
  await expect(failed).rejects.toThrow('Its own')
  expect(await turns.run('a', async () => 1)).toBe(1)
})

test('the task behind one that has given up runs in its turn', async () => {
  let refusals = 0
  const turns = new KeyedQueue(50, () => {
    refusals += 1
    return refusal()
  })
  const gate = Promise.withResolvers<void>()
  const first = turns.run('a', () => gate.promise)
  await expect(turns.run('a', async () => {})).rejects.toThrow('Too many wait')
  const behind = turns.run('a', async () => 'has run')
  gate.resolve()
  expect({ behind: await behind, refusals }).toEqual({ behind: 'has run', refusals: 1 })
  await first
})

test('when 10,000 tasks wait, a further one is refused at once, and all others run', async () => {
  const turns = new KeyedQueue(60_000, refusal)
  const gate = Promise.withResolvers<void>()
  let done = 0
  const tasks = [turns.run('a', () => gate.promise)]
  const count = async () => {
    done += 1
  }
  for (let waiting = 0; waiting < 10_000; waiting += 1) tasks.push(turns.run('a', count))
  await expect(turns.run('a', count)).rejects.toThrow('Too many wait')
  await turns.run('b', count)
  gate.resolve()
  await Promise.all(tasks)
  expect(done).toBe(10_001)
})

test("work that had to wait runs in its own caller's context, not in that of the work before it", async () => {
  const trace = new AsyncLocalStorage<string>()
  const turns = new KeyedQueue(60_000, refusal)
  const gate = Promise.withResolvers<void>()
  const first = trace.run('first', () => turns.run('a', () => gate.promise))
  const second = trace.run('second', () => turns.run('a', async () => trace.getStore()))
  gate.resolve()
  await first
  expect(await second).toBe('second')
})
