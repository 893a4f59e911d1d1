import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { toVersion } from '../../../host-clock/format.ts'
import type { Access, CheckInput } from '../../../http/access.ts'
import type { AppContext } from '../../../http/context.ts'
import { Confirmation, Envelope, ok } from '../../../http/envelope.ts'
import { guard } from '../../../http/guard.ts'
import { parsePathId } from '../../../http/path-ids.ts'
import { output } from '../../../http/schema/fields.ts'
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
  const read = async (caller: CheckInput['caller'], id: string) => {
    const found = await findWebhook(app.db, caller.ownerId, parsePathId(id))
    const [webhook] = await showWebhooks(app, caller, [found])
    return webhook as WebhookView
  }
  return new Elysia({ prefix: '/webhooks', tags: ['Webhooks'] })
    .use(guard(app))
    .get(
      '',
      async (context) =>
        ok(
          context,
          await showWebhooks(app, context.caller, await listWebhooks(app.db, context.caller.ownerId)),
        ),
      {
        access,
        response: { 200: Envelope(output.list('Webhooks of the host, sorted by id', WebhookView)) },
        detail: { operationId: 'listWebhooks', summary: 'List webhooks' },
      },
    )
    .post(
      '',
      async (context) => {
        const { webhook, secret } = await createWebhook(app, context.caller, context.body)
        app.webhooks.wake()
        return context.status(201, ok(context, { ...serializeWebhook(webhook), secret }))
      },
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
    )
    .get('/:id', async (context) => ok(context, await read(context.caller, context.params.id)), {
      access: accessToOne,
      response: { 200: Envelope(WebhookView) },
      detail: { operationId: 'getWebhook', summary: 'Read a webhook' },
    })
    .patch(
      '/:id',
      async (context) => {
        const id = parsePathId(context.params.id)
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
      {
        access: {
          ...accessToOne,
          body: 'json',
          current: ({ caller, params }: CheckInput) => read(caller, params.id as string),
        },
        body: WebhookPatch,
        response: { 200: Envelope(WebhookView, { gap: Type.Optional(Gap) }) },
        detail: {
          operationId: 'updateWebhook',
          summary: 'Update a webhook, or turn it on or off',
          description:
            'Turning a webhook off drops its waiting hints. When it is turned on again, hints begin with the next change, and `meta.gap` contains the versions after which hints may be missing; read the feeds from there. A new `url` with the same origin keeps the waiting hints; a new origin drops them, and `meta.gap` contains the versions to read from. Turning on a webhook whose key has ended transfers it to your key',
        },
      },
    )
    .delete(
      '/:id',
      async (context) => {
        await removeWebhook(app, context.caller, parsePathId(context.params.id))
        return ok(context, { message: 'The webhook was deleted' })
      },
      {
        access: accessToOne,
        response: { 200: Envelope(Confirmation) },
        detail: { operationId: 'deleteWebhook', summary: 'Delete a webhook' },
      },
    )
    .post(
      '/:id/secret/rotate',
      async (context) => {
        const id = parsePathId(context.params.id)
        const { webhook, secret } = await rotateSecret(app, context.caller, id)
        return ok(context, { ...serializeWebhook(webhook), secret })
      },
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
    )
    .post(
      '/:id/test',
      async (context) => {
        const id = parsePathId(context.params.id)
        const { delivery, redirectOrigin } = await testWebhook(app, context.caller, id)
        return ok(context, { ...serializeDelivery(delivery), redirect_origin: redirectOrigin })
      },
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
    )
    .get(
      '/:id/deliveries',
      async (context) => {
        const webhook = await findWebhook(app.db, context.caller.ownerId, parsePathId(context.params.id))
        return ok(
          context,
          (await listDeliveries(app.db, webhook, app.clock(webhook.owner_id))).map(serializeDelivery),
        )
      },
      {
        access: accessToOne,
        response: { 200: Envelope(output.list('Last 100 deliveries, newest first', DeliveryView)) },
        detail: { operationId: 'listWebhookDeliveries', summary: 'List deliveries of a webhook' },
      },
    )
    .post(
      '/:id/deliveries/:delivery_id/resend',
      async (context) => {
        const { id, delivery_id } = context.params
        const delivery = await resend(app, context.caller, parsePathId(id), delivery_id)
        return ok(context, serializeDelivery(delivery))
      },
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
    )
}
