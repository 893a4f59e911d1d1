import { expect, test } from 'vitest'
import { Pace } from '../../src/http/pace.ts'

/** Notes as many decisions as show how far away the limiter is. */
function note(pace: Pace, ...milliseconds: number[]) {
  for (let count = 0; count < 100; count += 1)
    pace.noteDecision((milliseconds[count % milliseconds.length] as number) / 1000)
}

function paceOf(requests: number): Pace {
  const pace = new Pace()
  for (let count = 0; count < requests; count += 1) pace.enter()
  return pace
}

test('a request that is alone waits, wherever the limiter is', () => {
  const pace = paceOf(1)
  expect(pace.gainsByEarlyStart(0)).toBe(true)
  note(pace, 0.2)
  expect(pace.gainsByEarlyStart(0)).toBe(true)
})

test('several requests wait if the limiter is a network away, and compute if it is near', () => {
  const pace = paceOf(8)
  expect(pace.gainsByEarlyStart(0)).toBe(false)
  note(pace, 20)
  expect(pace.gainsByEarlyStart(0)).toBe(true)
  note(pace, 0.2)
  expect(pace.gainsByEarlyStart(0)).toBe(false)
})

test('a limiter that answers some requests late because the process is busy is near', () => {
  const pace = paceOf(8)
  note(pace, 0.4, 8, 12, 30)
  expect(pace.gainsByEarlyStart(0)).toBe(false)
})

test('requests that are held, and those that were answered, are not under way', () => {
  const pace = paceOf(8)
  expect(pace.gainsByEarlyStart(7)).toBe(true)
  for (let count = 0; count < 7; count += 1) pace.leave()
  expect(pace.gainsByEarlyStart(0)).toBe(true)
})
