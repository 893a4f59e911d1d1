import { Type } from '@sinclair/typebox'
import { toVersion } from '../../../host-clock/format.ts'
import type { Access } from '../../../http/access.ts'
import { Confirmation, created, Envelope, ok } from '../../../http/answer/envelope.ts'
import type { AppContext } from '../../../http/context.ts'
import { output } from '../../../http/input/schema/fields.ts'
import type { Unchecked } from '../../../http/request.ts'
import { routes } from '../../../http/route.ts'
import { listDeliveries } from '../deliveries-store.ts'
import { findWebhook, listWebhooks } from '../store.ts'
import { patchWebhook } from './change.ts'
import { createWebhook } from './create.ts'
import { removeWebhook } from './remove.ts'
import { resend } from './resend.ts'
import { rotateSecret } from './rotate.ts'
import {
  DeliveryView,
  Gap,
  TestView,
  WebhookView,
  WebhookWithSecret,
  webhookCreate,
  webhookPatch,
} from './schema.ts'
import { testWebhook } from './send-test.ts'
import { serializeDelivery, serializeWebhook, showWebhooks } from './serialize.ts'

const access: Access = { permission: 'bookings.read' }
const accessToOne: Access = { ...access, errors: ['not_found'] }

/** Routes for managing the webhooks that hints are posted to (decisions §21). */
export function webhookRoutes(app: AppContext) {
  const WebhookCreate = webhookCreate(app.config.webhooksAllowPrivate)
  const WebhookPatch = webhookPatch(app.config.webhooksAllowPrivate)
  const read = async (caller: Unchecked['caller'], id: number | undefined) => {
    const found = await findWebhook(app.db, caller.ownerId, id)
    const [webhook] = await showWebhooks(app, caller, [found])
    return webhook as WebhookView
  }
  return routes(app, { prefix: '/webhooks', tags: ['Webhooks'] })
    .get(
      '',
      {
        access,
        response: { 200: Envelope(output.list('Webhooks of the host, sorted by id', WebhookView)) },
        detail: { operationId: 'listWebhooks', summary: 'List webhooks' },
      },
      async (context) =>
        ok(
          context,
          await showWebhooks(app, context.caller, await listWebhooks(app.db, context.caller.ownerId)),
        ),
    )
    .post(
      '',
      {
        access: { ...access, body: 'json', errors: ['conflict'] },
        body: WebhookCreate,
        response: { 201: Envelope(WebhookWithSecret) },
        detail: {
          operationId: 'createWebhook',
          summary: 'Create a webhook',
          description:
            'Hints are posted to the webhook from now on. The `secret` that signs them is shown only in this response. A host can have at most five webhooks',
        },
      },
      async (context) => {
        const { webhook, secret } = await createWebhook(app, context.caller, context.body)
        app.webhooks.wake()
        return created(context, { ...serializeWebhook(webhook), secret })
      },
    )
    .get(
      '/:id',
      {
        access: accessToOne,
        response: { 200: Envelope(WebhookView) },
        detail: { operationId: 'getWebhook', summary: 'Read a webhook' },
      },
      async (context) => ok(context, await read(context.caller, context.params.id)),
    )
    .patch(
      '/:id',
      {
        access: { ...accessToOne, body: 'json' },
        body: WebhookPatch,
        current: ({ caller, params }) => read(caller, params.id),
        response: { 200: Envelope(WebhookView, { gap: Type.Optional(Gap) }) },
        detail: {
          operationId: 'updateWebhook',
          summary: 'Update a webhook, or turn it on or off',
          description:
            'Turning a webhook off drops its waiting hints. When it is turned on again, hints begin with the next change, and `meta.gap` contains the versions after which hints may be missing; read the feeds from there. A new `url` with the same origin keeps the waiting hints; a new origin drops them, and `meta.gap` contains the versions to read from. Turning on a webhook whose key has ended transfers it to your key',
        },
      },
      async (context) => {
        const id = context.params.id
        const { webhook, gap } = await patchWebhook(app, context.caller, id, context.body)
        const view = serializeWebhook(webhook)
        if (!gap) return ok(context, view)
        return ok(context, view, {
          gap: {
            bookings_after: toVersion(gap.bookings_after),
            messages_after: toVersion(gap.messages_after),
          },
        })
      },
    )
    .delete(
      '/:id',
      {
        access: accessToOne,
        response: { 200: Envelope(Confirmation) },
        detail: { operationId: 'deleteWebhook', summary: 'Delete a webhook' },
      },
      async (context) => {
        await removeWebhook(app, context.caller, context.params.id)
        return ok(context, { message: 'The webhook was deleted' })
      },
    )
    .post(
      '/:id/secret/rotate',
      {
        access: accessToOne,
        response: { 200: Envelope(WebhookWithSecret) },
        detail: {
          operationId: 'rotateWebhookSecret',
          summary: 'Rotate the secret of a webhook',
          description:
            'The new secret is shown only in this response. For 24 hours, hints are also signed with the previous secret; at most two secrets sign at a time',
        },
      },
      async (context) => {
        const id = context.params.id
        const { webhook, secret } = await rotateSecret(app, context.caller, id)
        return ok(context, { ...serializeWebhook(webhook), secret })
      },
    )
    .post(
      '/:id/test',
      {
        access: { ...accessToOne, errors: ['not_found', 'conflict'] },
        response: { 200: Envelope(TestView) },
        detail: {
          operationId: 'testWebhook',
          summary: 'Send a test to a webhook and return the result',
          description:
            'Posts a `webhook.test` immediately, even to a webhook that is off, and waits up to 15 s for the response. A test is never retried',
        },
      },
      async (context) => {
        const { delivery, redirectOrigin } = await testWebhook(app, context.caller, context.params.id)
        return ok(context, { ...serializeDelivery(delivery), redirect_origin: redirectOrigin })
      },
    )
    .get(
      '/:id/deliveries',
      {
        access: accessToOne,
        response: { 200: Envelope(output.list('Last 100 deliveries, newest first', DeliveryView)) },
        detail: { operationId: 'listWebhookDeliveries', summary: 'List deliveries of a webhook' },
      },
      async (context) => {
        const webhook = await findWebhook(app.db, context.caller.ownerId, context.params.id)
        return ok(
          context,
          (await listDeliveries(app.db, webhook, app.clock(webhook.owner_id))).map(serializeDelivery),
        )
      },
    )
    .post(
      '/:id/deliveries/:delivery_id/resend',
      {
        access: { ...accessToOne, errors: ['not_found', 'conflict'] },
        response: { 200: Envelope(DeliveryView) },
        detail: {
          operationId: 'resendWebhookDelivery',
          summary: 'Resend a delivery',
          description:
            'Makes the delivery due immediately, under the same `webhook-id`, and responds without waiting for the attempt; the list of deliveries shows the outcome',
        },
      },
      async (context) => {
        const { id, delivery_id } = context.params
        const delivery = await resend(app, context.caller, id, delivery_id)
        return ok(context, serializeDelivery(delivery))
      },
    )
}
