import { type Static, Type } from '@sinclair/typebox'
import { hintEvents, hintFaults } from '../../changes/webhooks/hint.ts'
import type { Problem } from '../../core/errors.ts'
import {
  oneOf,
  optional,
  output,
  type Refinement,
  requestObject,
  responseObject,
  text,
  withTitle,
} from '../../http/input/schema/fields.ts'
import { isHintFault, requestFaults } from './rule.ts'

const maxRules = 20

const whole = (minimum: number, maximum: number, fallback: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, default: fallback, description }))

const rule = Type.Object(
  {
    fault: oneOf([...requestFaults, ...hintFaults], 'Fault that requests or hints meet'),
    operation: optional(
      text(255, { example: 'createBooking' }),
      'Operation whose requests meet the fault, by its id below `/v1`; null or absent for all operations',
    ),
    event: optional(
      oneOf(
        hintEvents,
        'Event whose hints meet the fault, for a fault of hints; null or absent for all events',
      ),
    ),
    after: whole(0, 10_000, 0, 'Number of requests or hints that pass before the first fault'),
    times: whole(1, 1000, 1, 'Number of requests or hints that then meet the fault'),
    retry_after_seconds: whole(1, 60, 5, '`Retry-After` of `rate_limited`, in seconds'),
    delay_milliseconds: whole(1, 25_000, 2000, 'Delay of `slow` and `hint_late`, in milliseconds'),
  },
  { additionalProperties: true },
)
/** A rule as the caller sends it. */
export type SentRule = Static<typeof rule>

/**
 * Body of `PUT /sandbox/faults`.
 *
 * @param isOperation returns true if an id is the operation id of a route that supports faults
 */
export const faultsWrite = (isOperation: (id: string) => boolean) =>
  withTitle(
    'SandboxFaultsWrite',
    requestObject(
      {
        rules: Type.Array(rule, {
          maxItems: maxRules,
          description: 'Fault rules; the first matching rule that is not used up applies',
        }),
      },
      checkRules(isOperation),
    ),
  )

const checkRules =
  (isOperation: (id: string) => boolean): Refinement<{ rules: SentRule[] }> =>
  ({ rules }, isValidAt) => {
    const problems: Problem[] = []
    if (!Array.isArray(rules)) return problems
    for (const [index, sent] of rules.entries()) {
      const at = `rules.${index}`
      if (isValidAt(`${at}.fault`)) problems.push(...problemsOf(sent, at, isOperation))
    }
    return problems
  }

/**
 * Returns the problems with a rule's `operation` and `event`. A request fault accepts only an existing operation, and a
 * hint fault accepts only an event.
 */
function problemsOf(
  { fault, operation = null, event = null }: SentRule,
  at: string,
  isOperation: (id: string) => boolean,
): Problem[] {
  const invalid = (field: string, message: string): Problem => ({
    path: `${at}.${field}`,
    code: 'invalid',
    message: `"${at}.${field}" ${message}`,
  })
  if (isHintFault(fault))
    return operation === null ? [] : [invalid('operation', 'applies only to request faults: use "event"')]
  if (event !== null) return [invalid('event', 'applies only to hint faults: use "operation"')]
  if (operation === null || isOperation(operation)) return []
  return [
    invalid(
      'operation',
      'must be the `operationId` of a route that can meet a fault, such as "createBooking" (see /openapi.json)',
    ),
  ]
}

/** A sandbox's rules with their remaining counts. */
export const SandboxFaults = withTitle(
  'SandboxFaults',
  responseObject({
    rules: output.list(
      'Fault rules, in order',
      withTitle(
        'SandboxFault',
        responseObject({
          fault: output.literal('Fault that requests or hints meet', ...requestFaults, ...hintFaults),
          operation: output.textOrNull('Operation whose requests meet the fault; null for all operations'),
          event: output.textOrNull('Event whose hints meet the fault; null for all events'),
          after: output.integer('Number of requests or hints that pass before the first fault', 'count'),
          times: output.integer('Number of requests or hints that then meet the fault', 'count'),
          retry_after_seconds: output.integer('`Retry-After` of `rate_limited`, in seconds', 'count'),
          delay_milliseconds: output.integer('Delay of `slow` and `hint_late`, in milliseconds', 'count'),
          left: responseObject(
            {
              after: output.integer('Number of requests or hints still to pass', 'count'),
              times: output.integer('Number of requests or hints still to meet the fault', 'count'),
            },
            'Remaining counts of the rule',
          ),
        }),
      ),
    ),
  }),
)
