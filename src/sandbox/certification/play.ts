import type { ScenarioName } from '../scenarios/names.ts'
import { scenarios } from '../scenarios/scenarios.ts'
import type { ScenarioParameters } from '../scenarios/schema.ts'
import type { Run } from './step.ts'

/** Plays a scenario in the sandbox of a certification; everything is visible when it returns. */
export async function play(
  { app, hostId, keyId }: Pick<Run, 'app' | 'hostId' | 'keyId'>,
  name: ScenarioName,
  parameters: ScenarioParameters = {},
): Promise<void> {
  const scenario = scenarios.find((known) => known.name === name)
  const prepared = await scenario?.prepare({ app, hostId, keyId }, parameters)
  await prepared?.play()
}

/**
 * Lets the second of the first change pass, which may be up to one ahead of the clock: who goes on by a clock of its own
 * has missed that change from then on.
 */
export const passFirstVersion = () => Bun.sleep(1000)
