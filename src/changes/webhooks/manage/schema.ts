import { type Static, Type } from '@sinclair/typebox'
import type { Problem } from '../../../core/errors.ts'
import {
  oneOf,
  output,
  type Refinement,
  requestObject,
  responseObject,
  text,
  withTitle,
} from '../../../http/input/schema/fields.ts'
import { type PrivateHost, privateHostOf } from '../../../platform/outgoing/address.ts'
import { webhookEvents } from '../hint.ts'
import type { DisabledReason } from '../model.ts'

const disabledReasons: DisabledReason[] = ['gone', 'failing', 'partner', 'administrator', 'key_ended']

const url = text(2048, {
  format: 'uri',
  whenBlank: 'required',
  description:
    'URL that hints are posted to; must use `https` and a public address. For a program on your own machine, use `partnerctl listen`',
})
const events = Type.Array(oneOf(webhookEvents, 'Event to send hints for'), {
  minItems: 1,
  maxItems: webhookEvents.length,
  uniqueItems: true,
  description: 'Events to send hints for',
})

/** Body of `POST /v1/webhooks`. */
export const webhookCreate = (allowsPrivate: boolean) =>
  withTitle('WebhookCreate', requestObject({ url, events }, checkUrl(allowsPrivate)))
export type WebhookCreate = Static<ReturnType<typeof webhookCreate>>

/** Body of `PATCH /v1/webhooks/{id}`. */
export const webhookPatch = (allowsPrivate: boolean) =>
  withTitle(
    'WebhookPatch',
    requestObject(
      {
        url: Type.Optional(url),
        events: Type.Optional(events),
        enabled: Type.Optional(
          Type.Boolean({ description: 'True to turn the webhook on, false to turn it off' }),
        ),
      },
      checkUrl(allowsPrivate),
    ),
  )
export type WebhookPatch = Static<ReturnType<typeof webhookPatch>>

const checkUrl =
  (allowsPrivate: boolean): Refinement<{ url?: string }> =>
  ({ url: sent }, isValidAt) =>
    sent !== undefined && isValidAt('url') ? urlProblems(sent, allowsPrivate) : []

/** Returns the problems with a webhook's URL (decisions §21). */
function urlProblems(address: string, allowsPrivate: boolean): Problem[] {
  const parsed = new URL(address)
  const problem = (message: string): Problem[] => [{ path: 'url', code: 'invalid', message }]
  if (/[\s\p{Cc}]/u.test(address)) return problem('"url" must not contain spaces or line breaks')
  if (parsed.username || parsed.password || /^[a-z]+:[\\/]*[^\\/?#]*@/i.test(address))
    return problem('"url" must not contain a user name or a password')
  if (allowsPrivate) return []
  if (parsed.protocol !== 'https:') return problem('"url" must start with "https://"')
  const host = privateHostOf(parsed)
  return host === null ? [] : problem(privateHostMessages[host])
}

const privateHostMessages: Record<PrivateHost, string> = {
  'private address': '"url" must be a public address; its IP address is private or reserved',
  'own machine': '"url" must be a public address; for a program on your own machine, use "partnerctl listen"',
  'name without a dot':
    '"url" must be a public address; a name without a dot, such as "intranet", is not public',
}

const fields = {
  id: output.integer('Id of the webhook', 'id'),
  url: output.text('URL that hints are posted to'),
  events: output.list('Events that hints are sent for', output.literal('Type of event', ...webhookEvents)),
  enabled: output.boolean('True while the webhook is on and hints are sent'),
  disabled_at: output.timestampOrNull('Time at which the webhook was turned off; null while it is on'),
  disabled_reason: output.textOrNull(
    `Reason why the webhook was turned off: ${disabledReasons.map((reason) => `\`${reason}\``).join(', ')}; null while it is on`,
  ),
  created_by: output.integer('Id of the key that the webhook belongs to', 'id'),
}

/** A webhook, as partners see it. */
export const WebhookView = withTitle('Webhook', responseObject(fields))
export type WebhookView = Static<typeof WebhookView>

/** A webhook with its new secret, which is shown only once. */
export const WebhookWithSecret = withTitle(
  'WebhookWithSecret',
  responseObject({
    ...fields,
    secret: output.text('Secret that hints are signed with; shown only in this response'),
  }),
)
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

/** The feeds' versions after which hints may be missing. */
export const Gap = responseObject(
  {
    bookings_after: output.text('Version of the booking feed after which hints may be missing', 'version'),
    messages_after: output.text('Version of the message feed after which hints may be missing', 'version'),
  },
  'Versions after which hints may be missing; read the feeds from there',
)

const deliveryFields = {
  id: output.text('Id of the delivery, sent as its `webhook-id`'),
  event: output.text('Event that triggered the delivery'),
  booking_id: output.integerOrNull('Id of the booking; null for a test and for an alarm'),
  message_id: output.integerOrNull('Id of the message; null if the event is not `message.created`'),
  status: output.literal(
    'Status of the delivery; `delivered` without a `response_status` if a fault or a certification held back the hint',
    'waiting',
    'delivered',
    'failed',
  ),
  attempts: output.integer('Number of attempts so far', 'count'),
  response_status: output.integerOrNull(
    'HTTP status of the response to the last attempt; null if there was none',
  ),
  milliseconds: output.integerOrNull(
    'Duration of the last attempt in milliseconds; null before the first attempt',
  ),
  error: output.textOrNull(
    'Reason why the last attempt got no response: `timeout`, `connection` or `address`; null otherwise',
  ),
  error_detail: output.textOrNull(
    'Cause of a `connection` error: `refused`, `reset` or `dns`, for a certificate `chain_incomplete` (the receiver does not send all intermediate certificates), `untrusted`, `name_mismatch` or `expired`, and `tls` for any other fault of the handshake. `redirect` if the response was a redirect, which is not followed. Null otherwise, and if the cause is unknown',
  ),
  fault: output.textOrNull('Sandbox fault injected into the first attempt; null for none'),
  next_attempt_at: output.timestampOrNull(
    'Time of the next attempt; null if there is none, and while an attempt is in progress',
  ),
}

/** A delivery, as partners see it, without the response body. */
export const DeliveryView = withTitle('WebhookDelivery', responseObject(deliveryFields))
export type DeliveryView = Static<typeof DeliveryView>

/** The delivery of a test. */
export const TestView = withTitle(
  'WebhookTest',
  responseObject({
    ...deliveryFields,
    redirect_origin: output.textOrNull(
      'Origin of the address that the response redirected to; null if it did not. It is shown only here, and not stored',
    ),
  }),
)
export type TestView = Static<typeof TestView>
