import { Type } from '@sinclair/typebox'
import { toTimestamp } from '../../core/clock.ts'
import { invalidField } from '../../core/errors.ts'
import type { Access } from '../../http/access.ts'
import { Envelope, ok } from '../../http/answer/envelope.ts'
import { output, requestObject, responseObject, withTitle } from '../../http/input/schema/fields.ts'
import { routes } from '../../http/route.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { moveAhead } from '../store.ts'
import { maxAheadSeconds } from './clocks.ts'

/** Routes for reading a sandbox's clock and moving it forward (decisions §22). */
export function clockRoutes(app: SandboxContext) {
  const access: Access = { permission: 'any', environment: 'steers' }
  const show = (sandboxId: number) => {
    const now = app.clock(sandboxId)
    const aheadMilliseconds = now.getTime() - app.clock().getTime()
    return { now: toTimestamp(now), advanced_seconds: Math.round(aheadMilliseconds / 1000) }
  }
  return routes(app, { prefix: '/clock', tags: ['Sandbox'] })
    .get(
      '',
      {
        access,
        response: { 200: Envelope(SandboxClock) },
        detail: { operationId: 'getSandboxClock', summary: 'Read the clock of the sandbox' },
      },
      (context) => ok(context, show(context.caller.ownerId)),
    )
    .post(
      '',
      {
        access: { ...access, body: 'json' },
        body: ClockAdvance,
        response: { 200: Envelope(SandboxClock) },
        detail: { operationId: 'advanceSandboxClock', summary: 'Move the clock of the sandbox forward' },
      },
      async (context) => {
        const { ownerId: sandboxId } = context.caller
        const moved = await moveAhead(app.db, sandboxId, context.body.advance_seconds, maxAheadSeconds)
        if (!moved)
          throw invalidField(
            'advance_seconds',
            `The clock would be more than ${maxAheadSeconds / 86_400} days ahead`,
            'max',
          )
        app.clocks.note(sandboxId, moved.ahead_seconds)
        app.webhooks.wake()
        return ok(context, show(sandboxId))
      },
    )
}

export const ClockAdvance = requestObject({
  advance_seconds: Type.Integer({
    minimum: 1,
    maximum: maxAheadSeconds,
    description: 'Number of whole seconds to move the clock forward; at most 400 days in total',
  }),
})

export const SandboxClock = withTitle(
  'SandboxClock',
  responseObject({
    now: output.timestamp('Current time in the sandbox'),
    advanced_seconds: output.integer(
      'Number of seconds that the sandbox clock is ahead of real time',
      'count',
    ),
  }),
)
