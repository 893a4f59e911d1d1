import { describe, test } from 'vitest'
import { chooseRule } from '../../src/sandbox/faults/choose-fault.ts'
import { countedRule, type FaultRule, timedRule } from '../../src/sandbox/faults/rule.ts'
import { secondsUntilFill } from '../../src/sandbox/lifecycle/fills.ts'

const now = new Date('2030-01-01T00:00:00Z')
const later = (milliseconds: number) => new Date(now.getTime() + milliseconds)
const route = 'POST /sandbox/bookings'

function counted(left: FaultRule['left'], fault: FaultRule['fault'] = 'internal_error'): FaultRule {
  const rule = countedRule({
    fault,
    operation: null,
    route,
    event: null,
    after: 1,
    times: 2,
    retry_after_seconds: 1,
    delay_milliseconds: 0,
  })
  return { ...rule, left }
}
const timed = (until: Date | null) => timedRule({ fault: 'rate_limited', route, milliseconds: 10_000 }, until)

describe('a request that matches a rule', () => {
  const rows: { title: string; rules: FaultRule[]; choice: object | null }[] = [
    { title: 'passes if there is no rule', rules: [], choice: null },
    {
      title: 'passes while the rule lets requests pass, and is counted',
      rules: [counted({ after: 1, times: 2 })],
      choice: { kind: 'counted', index: 0, counter: 'after', fault: null },
    },
    {
      title: 'gets the fault afterwards',
      rules: [counted({ after: 0, times: 2 })],
      choice: { kind: 'counted', index: 0, counter: 'times', fault: { fault: 'internal_error' } },
    },
    { title: 'passes once the rule is used up', rules: [counted({ after: 0, times: 0 })], choice: null },
    {
      title: 'gets the fault of the next rule once the first is used up',
      rules: [counted({ after: 0, times: 0 }), counted({ after: 0, times: 1 }, 'bad_gateway')],
      choice: { kind: 'counted', index: 1, counter: 'times', fault: { fault: 'bad_gateway' } },
    },
    {
      title: 'starts a timed rule',
      rules: [timed(null)],
      choice: {
        kind: 'timed',
        index: 0,
        isFirst: true,
        until: later(10_000),
        fault: { retry_after_seconds: 10 },
      },
    },
    {
      title: 'gets the rest of the time of a timed rule that has started',
      rules: [timed(later(2500))],
      choice: {
        kind: 'timed',
        index: 0,
        isFirst: false,
        until: later(2500),
        fault: { retry_after_seconds: 3 },
      },
    },
    { title: 'passes once a timed rule has ended', rules: [timed(now)], choice: null },
  ]

  test.for(rows)('$title', ({ rules, choice }, { expect }) => {
    const found = chooseRule(rules, (rule) => rule.route === route, now)
    if (choice === null) expect(found).toBeNull()
    else expect(found).toMatchObject(choice)
  })

  test('is judged only by the rules that match it', ({ expect }) => {
    const rules = [counted({ after: 0, times: 1 }), counted({ after: 0, times: 1 }, 'bad_gateway')]
    const found = chooseRule(rules, ({ fault }) => fault === 'bad_gateway', now)
    expect(found).toMatchObject({ index: 1 })
  })
})

describe('a sandbox may be filled', () => {
  const rows: { title: string; fills: Date[]; seconds: number }[] = [
    { title: 'at once the first time', fills: [], seconds: 0 },
    { title: 'at once while fewer than 60 fills count', fills: Array(59).fill(now), seconds: 0 },
    { title: 'ten minutes after the oldest of 60 fills', fills: Array(60).fill(now), seconds: 600 },
    {
      title: 'after the rest of these ten minutes, in whole seconds',
      fills: Array(60).fill(later(-500)),
      seconds: 600,
    },
    {
      title: 'at once if the oldest of 60 fills was ten minutes ago',
      fills: Array(60).fill(later(-600_000)),
      seconds: 0,
    },
    {
      title: 'whatever came before the last 60 fills',
      fills: [...Array(10).fill(now), ...Array(60).fill(later(-600_000))],
      seconds: 0,
    },
  ]

  test.for(rows)('$title', ({ fills, seconds }, { expect }) => {
    expect(secondsUntilFill(fills, now)).toBe(seconds)
  })
})
