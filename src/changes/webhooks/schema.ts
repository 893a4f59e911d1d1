import { type Static, Type } from '@sinclair/typebox'
import type { Problem } from '../../core/errors.ts'
import {
  named,
  oneOf,
  type Refinement,
  requestObject,
  responseObject,
  shown,
  text,
} from '../../http/schema/fields.ts'
import { isPrivateHost } from './address.ts'
import { webhookEvents } from './hint.ts'
import { disabledReasons } from './reasons.ts'

const url = text(2048, {
  format: 'uri',
  whenBlank: 'required',
  description:
    'Where hints are posted: `https` and a public address. For a program on your own machine there is `partnerctl listen`',
})
const events = Type.Array(oneOf(webhookEvents, 'What is hinted'), {
  ...{ minItems: 1, maxItems: webhookEvents.length, uniqueItems: true },
  description: 'What is hinted',
})

/** Body of `POST /v1/webhooks`. */
export const webhookCreate = (allowsPrivate: boolean) =>
  named('WebhookCreate', requestObject({ url, events }, checkUrl(allowsPrivate)))
export type WebhookCreate = Static<ReturnType<typeof webhookCreate>>

/** Body of `PATCH /v1/webhooks/{id}`. */
export const webhookPatch = (allowsPrivate: boolean) =>
  named(
    'WebhookPatch',
    requestObject(
      {
        url: Type.Optional(url),
        events: Type.Optional(events),
        enabled: Type.Optional(Type.Boolean({ description: 'Whether hints are sent' })),
      },
      checkUrl(allowsPrivate),
    ),
  )
export type WebhookPatch = Static<ReturnType<typeof webhookPatch>>

const checkUrl =
  (allowsPrivate: boolean): Refinement<{ url?: string }> =>
  ({ url: sent }, isValidAt) =>
    sent !== undefined && isValidAt('url') ? urlProblems(sent, allowsPrivate) : []

/** Returns the problems with a URL that hints would be posted to (decisions §21). */
function urlProblems(address: string, allowsPrivate: boolean): Problem[] {
  const parsed = new URL(address)
  const problem = (message: string): Problem[] => [{ path: 'url', code: 'invalid', message }]
  if (/[\s\p{Cc}]/u.test(address)) return problem('"url" must not contain blanks or line breaks')
  if (parsed.username || parsed.password || /^[a-z]+:[\\/]*[^\\/?#]*@/i.test(address))
    return problem('"url" must not contain a user name or a password')
  if (allowsPrivate) return []
  if (parsed.protocol !== 'https:') return problem('"url" must start with "https://"')
  return isPrivateHost(parsed) ? problem('"url" must be a public address') : []
}

const fields = {
  id: shown.integer('Id of the webhook', 'id'),
  url: shown.text('Where hints are posted'),
  events: shown.list('What is hinted', shown.word('An event', ...webhookEvents)),
  enabled: shown.boolean('Whether hints are sent'),
  disabled_at: shown.timestampOrNull('Since when it is off; null while it is on'),
  disabled_reason: shown.textOrNull(
    `Why it is off: ${disabledReasons.map((reason) => `\`${reason}\``).join(', ')}; null while it is on`,
  ),
  created_by: shown.integer('Id of the key that the endpoint belongs to', 'id'),
}

/** An endpoint, as partners see it. */
export const WebhookView = named('Webhook', responseObject(fields))
export type WebhookView = Static<typeof WebhookView>

/** An endpoint with its new secret, which is shown only once. */
export const WebhookWithSecret = named(
  'WebhookWithSecret',
  responseObject({ ...fields, secret: shown.text('What hints are signed with, shown only now') }),
)
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

/** The feeds' versions after which hints may be missing. */
export const Gap = responseObject(
  {
    bookings_after: shown.text('Version of the booking feed after which nothing was hinted', 'version'),
    messages_after: shown.text('The same of the message feed', 'version'),
  },
  'What was not hinted while it was off, to be read from the feeds',
)

/** A delivery, as partners see it, without the response body. */
export const DeliveryView = named(
  'WebhookDelivery',
  responseObject({
    id: shown.text('Id of the delivery, which is its `webhook-id`'),
    event: shown.text('What was hinted'),
    status: shown.word('What became of it', 'waiting', 'delivered', 'failed'),
    attempts: shown.integer('Tries so far', 'count'),
    response_status: shown.integerOrNull('Status of the last response; null where there was none'),
    milliseconds: shown.integerOrNull('How long the last try took; null before the first'),
    error: shown.textOrNull(
      'Why there was no response: `timeout`, `connection` or `address`; null otherwise',
    ),
    error_detail: shown.textOrNull(
      'What went wrong with a `connection`: `refused`, `reset`, `tls` or `dns`; null if it is not known',
    ),
    fault: shown.textOrNull('The fault of the sandbox that its first try met; null for none'),
    next_attempt_at: shown.timestampOrNull(
      'When it is tried next; null for never, and while it is being tried',
    ),
  }),
)
export type DeliveryView = Static<typeof DeliveryView>
