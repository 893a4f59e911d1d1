import { DomainError, notFound } from '../../core/errors.ts'
import type { Access } from '../../http/access.ts'
import { created, Envelope, ok } from '../../http/answer/envelope.ts'
import { output, responseObject } from '../../http/input/schema/fields.ts'
import { routes } from '../../http/route.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { playExclusively } from './exclusive.ts'
import { scenarios } from './scenarios.ts'
import { Played, ScenarioParameters, ScenarioView } from './schema.ts'
import { cannotPlay } from './stage.ts'

const nothing = { bookings: [], messages: [], listing_id: null, room_type_id: null, nights: [] }

/** Routes for playing scenarios, which reproduce events that integrations encounter in production (decisions §22). */
export function scenarioRoutes(app: SandboxContext) {
  const access: Access = { permission: 'any', environment: 'steers' }
  return routes(app, { prefix: '/scenarios', tags: ['Sandbox'] })
    .get(
      '',
      {
        access,
        response: { 200: Envelope(output.list('Available scenarios', ScenarioView)) },
        detail: {
          operationId: 'listSandboxScenarios',
          summary: 'List the available scenarios',
        },
      },
      (context) =>
        ok(
          context,
          scenarios.map(({ prepare: _, ...shownFields }) => shownFields),
        ),
    )
    .post(
      '/:name',
      {
        access: { ...access, body: 'optional', errors: ['not_found', 'conflict'] },
        body: ScenarioParameters,
        response: { 201: Envelope(responseObject({ played: Played }, 'Outcome of the scenario')) },
        detail: {
          operationId: 'playSandboxScenario',
          summary: 'Play a scenario in the sandbox',
          description: scenarios.map(({ name, summary }) => `- \`${name}\`: ${summary}`).join('\n'),
        },
      },
      async (context) => {
        const { ownerId: sandboxId, keyId } = context.caller
        const scenario = scenarios.find(({ name }) => name === context.params.name)
        if (!scenario) throw notFound('Scenario')
        const parameters = context.body
        const played = await playExclusively(app, sandboxId, async (requireRoom) => {
          const { documents, play } = await scenario.prepare({ app, sandboxId, keyId }, parameters)
          await requireRoom(documents)
          return play().catch(toConflict)
        })
        return created(context, { played: { scenario: scenario.name, ...nothing, ...played } })
      },
    )
}

/**
 * Rethrows a validation error as a conflict, because it means that another request changed the sandbox after the
 * scenario was prepared.
 */
function toConflict(error: unknown): never {
  if (!(error instanceof DomainError) || error.kind !== 'validation') throw error
  const [problem] = error.problems
  throw cannotPlay(`another request changed the sandbox (${problem?.message ?? error.message})`)
}
