import { addDays, toDay } from '../core/clock.ts'
import { DomainError } from '../core/errors.ts'
import type { ScenarioName } from '../sandbox/scenarios/names.ts'
import { type Ready, scenarios } from '../sandbox/scenarios/scenarios.ts'
import type { ScenarioParameters } from '../sandbox/scenarios/schema.ts'
import { findOpenStay } from './open-stay.ts'
import type { Run } from './step.ts'

const daysAhead = 30

/**
 * Plays a scenario in a certification's sandbox. All changes are visible once the promise resolves. Guests book stays
 * that have units left. If the product has left no booking to change, a guest books one first.
 */
export async function play(run: Run, name: ScenarioName, parameters: ScenarioParameters = {}): Promise<void> {
  const scenario = scenarios.find((known) => known.name === name)
  if (!scenario) return
  const prepare = async (): Promise<Ready> => {
    if (!scenario.parameters.includes('checkin_at')) return scenario.prepare(run, parameters)
    const from = addDays(toDay(run.app.clock(run.hostId)), daysAhead)
    const { stay } = await findOpenStay(run, from, parameters.count ?? 1)
    return scenario.prepare(run, { ...parameters, checkin_at: stay.checkin_at })
  }
  const ready = await prepare().catch(async (error) => {
    if (!(error instanceof DomainError) || name === 'guest-books') throw error
    await play(run, 'guest-books')
    return prepare()
  })
  await ready.play()
}

/**
 * Waits until the first change's version, which may be up to a second ahead of the clock, is in the past. After that, a
 * product that continues from its own clock has missed the change.
 */
export const passFirstVersion = () => Bun.sleep(1000)
