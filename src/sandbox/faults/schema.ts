import { type Static, Type } from '@sinclair/typebox'
import { webhookEvents } from '../../changes/webhooks/hint.ts'
import type { Problem } from '../../core/errors.ts'
import { hintFaults, isHintFault, requestFaults } from '../../http/fault-rule.ts'
import {
  named,
  oneOf,
  type Refinement,
  requestObject,
  responseObject,
  shown,
  text,
} from '../../http/schema/fields.ts'

const maxRules = 20

const whole = (minimum: number, maximum: number, fallback: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, default: fallback, description }))

const rule = Type.Object(
  {
    fault: oneOf([...requestFaults, ...hintFaults], 'What is met'),
    operation: Type.Optional(
      text(255, {
        whenBlank: 'invalid',
        description: 'Only requests of this operation, by its id below `/v1`; absent: of each',
        example: 'createBooking',
      }),
    ),
    event: Type.Optional(
      oneOf(webhookEvents, 'For a fault of hints: only hints of this event; absent: of each'),
    ),
    after: whole(0, 10_000, 0, 'So many pass first'),
    times: whole(1, 1000, 1, 'So many meet the fault then'),
    retry_after_seconds: whole(1, 60, 5, 'Of `rate_limited`: its `Retry-After`'),
    delay_milliseconds: whole(1, 25_000, 2000, 'Of `slow` and `hint_late`: how long it waits'),
  },
  { additionalProperties: true },
)
/** A rule as the caller sends it. */
export type SentRule = Static<typeof rule>

/**
 * Body of `PUT /sandbox/faults`.
 *
 * @param isOperation returns true for the operation id of a route whose requests can meet a fault
 */
export const faultsWrite = (isOperation: (id: string) => boolean) =>
  named(
    'SandboxFaultsWrite',
    requestObject(
      {
        rules: Type.Array(rule, {
          maxItems: maxRules,
          description: 'The rules; of those that match, the first that is not used up counts',
        }),
      },
      checkRules(isOperation),
    ),
  )

const checkRules =
  (isOperation: (id: string) => boolean): Refinement<{ rules: SentRule[] }> =>
  ({ rules }, isValidAt) =>
    (Array.isArray(rules) ? rules : []).flatMap((sent, index) => {
      const at = `rules.${index}`
      return isValidAt(`${at}.fault`) ? problemsOf(sent, at, isOperation) : []
    })

/** Checks that a request fault is narrowed only by an operation, and a hint fault only by an event. */
function problemsOf(
  { fault, operation, event }: SentRule,
  at: string,
  isOperation: (id: string) => boolean,
): Problem[] {
  const invalid = (field: string, message: string): Problem => ({
    ...{ path: `${at}.${field}`, code: 'invalid' },
    message: `"${at}.${field}" ${message}`,
  })
  if (isHintFault(fault))
    return operation === undefined ? [] : [invalid('operation', 'is for faults of requests: use "event"')]
  if (event !== undefined) return [invalid('event', 'is for faults of hints: use "operation"')]
  return operation === undefined || isOperation(operation)
    ? []
    : [
        invalid(
          'operation',
          'must be the `operationId` of a route that can meet a fault, such as "createBooking" (see /openapi.json)',
        ),
      ]
}

/** A sandbox's rules with what is left of their counts. */
export const SandboxFaults = named(
  'SandboxFaults',
  responseObject({
    rules: shown.list(
      'The rules, in their order',
      named(
        'SandboxFault',
        responseObject({
          fault: shown.word('What is met', ...requestFaults, ...hintFaults),
          operation: shown.textOrNull('Only requests of this operation; null for each'),
          event: shown.textOrNull('Only hints of this event; null for each'),
          after: shown.integer('So many pass first', 'count'),
          times: shown.integer('So many meet the fault then', 'count'),
          retry_after_seconds: shown.integer('Of `rate_limited`: its `Retry-After`', 'count'),
          delay_milliseconds: shown.integer('Of `slow` and `hint_late`: how long it waits', 'count'),
          left: responseObject(
            {
              after: shown.integer('So many more pass', 'count'),
              times: shown.integer('So many more meet it', 'count'),
            },
            'What is left of both',
          ),
        }),
      ),
    ),
  }),
)
