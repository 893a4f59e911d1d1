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

test('an error in one piece of work does not affect the next', async () => {
  const turns = new KeyedQueue(60_000, refusal)
  const failed = turns.run('a', async () => {
    throw new Error('Its own')
  })
  await expect(failed).rejects.toThrow('Its own')
  expect(await turns.run('a', async () => 1)).toBe(1)
})
