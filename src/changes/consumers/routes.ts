import { Elysia } from 'elysia'
import type { Access, CheckInput } from '../../http/access.ts'
import type { AppContext } from '../../http/context.ts'
import { Confirmation, Envelope, ok } from '../../http/envelope.ts'
import { guard } from '../../http/guard.ts'
import { output } from '../../http/schema/fields.ts'
import type { FeedName } from '../feeds.ts'
import type { Consumer } from './model.ts'
import { type Progress, progressOf, progressOfAll } from './progress.ts'
import { ConsumerView, ConsumerWrite } from './schema.ts'
import { serializeConsumer } from './serialize.ts'
import { consumerSetOf, deleteConsumer, findConsumer, listConsumers } from './store.ts'
import { nameProblems, putConsumer } from './write.ts'

/** Routes for consumers, which are feed positions stored for pollers without a disk (decisions §19). */
export function consumerRoutes(app: AppContext) {
  return new Elysia({ prefix: '/integrations/:provider' })
    .use(routesOf(app, 'bookings'))
    .use(routesOf(app, 'messages'))
}

function routesOf(app: AppContext, feed: FeedName) {
  const access: Access = { permission: 'bookings.read', provider: true, window: 'insight' }
  const operation = `${feed === 'bookings' ? 'Booking' : 'Message'}Consumer`
  const show = async (consumer: Consumer) => serializeConsumer(consumer, await progressOf(app.db, consumer))
  const read = async (caller: CheckInput['caller'], name: string) =>
    show(await findConsumer(app.db, consumerSetOf(caller, feed), name))
  return new Elysia({ prefix: `/${feed}/consumers`, tags: ['Consumers'] })
    .use(guard(app))
    .get(
      '',
      async (context) => {
        const consumers = await listConsumers(app.db, consumerSetOf(context.caller, feed))
        const progress = await progressOfAll(app.db, consumers)
        return ok(
          context,
          consumers.map((consumer, index) => serializeConsumer(consumer, progress[index] as Progress)),
        )
      },
      {
        access,
        response: { 200: Envelope(output.list('Consumers, sorted by name', ConsumerView)) },
        detail: { operationId: `list${operation}s`, summary: `List consumers of the ${feed} feed` },
      },
    )
    .get('/:name', async (context) => ok(context, await read(context.caller, context.params.name)), {
      access: { ...access, errors: ['not_found'] },
      response: { 200: Envelope(ConsumerView) },
      detail: { operationId: `get${operation}`, summary: 'Read a consumer and its lag' },
    })
    .put(
      '/:name',
      async (context) => {
        const which = { feed, name: context.params.name }
        const consumer = await putConsumer(app, context.caller, which, context.body)
        return ok(context, await show(consumer))
      },
      {
        access: {
          ...access,
          body: 'json',
          check: nameProblems,
          current: ({ caller, params }: CheckInput) => read(caller, params.name as string),
        },
        body: ConsumerWrite,
        response: { 200: Envelope(ConsumerView) },
        detail: {
          operationId: `put${operation}`,
          summary: 'Create a consumer or acknowledge changes',
        },
      },
    )
    .delete(
      '/:name',
      async (context) => {
        await deleteConsumer(app.db, consumerSetOf(context.caller, feed), context.params.name)
        return ok(context, { message: 'The consumer was deleted' })
      },
      {
        access: { ...access, errors: ['not_found'] },
        response: { 200: Envelope(Confirmation) },
        detail: { operationId: `delete${operation}`, summary: 'Delete a consumer' },
      },
    )
}
