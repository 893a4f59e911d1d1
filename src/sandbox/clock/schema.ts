import { Type } from '@sinclair/typebox'
import { named, requestObject, responseObject, shown } from '../../http/schema/fields.ts'

/** How far a sandbox's clock may be ahead altogether: 400 days. */
export const maxAheadSeconds = 400 * 86_400

export const ClockAdvance = requestObject({
  advance_seconds: Type.Integer({
    minimum: 1,
    maximum: maxAheadSeconds,
    description: 'How far the clock moves, in whole seconds; 400 days altogether at most',
  }),
})

export const SandboxClock = named(
  'SandboxClock',
  responseObject({
    now: shown.timestamp('What time it is in this sandbox'),
    advanced_seconds: shown.integer('How far its clock is ahead, in seconds', 'count'),
  }),
)
