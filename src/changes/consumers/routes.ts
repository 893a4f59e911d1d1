import type { Access } from '../../http/access.ts'
import { Confirmation, Envelope, ok } from '../../http/answer/envelope.ts'
import type { AppContext } from '../../http/context.ts'
import { output } from '../../http/input/schema/fields.ts'
import type { Unchecked } from '../../http/request.ts'
import { routes } from '../../http/route.ts'
import type { FeedName } from '../feeds.ts'
import { nameProblems, putConsumer } from './consumer-write.ts'
import type { Consumer } from './model.ts'
import { type Progress, progressOf, progressOfAll } from './progress.ts'
import { ConsumerView, ConsumerWrite } from './schema.ts'
import { serializeConsumer } from './serialize.ts'
import { consumerSetOf, deleteConsumer, findConsumer, listConsumers } from './store.ts'

/** Routes for the consumers of a feed, which are positions stored for pollers without a disk (decisions §19). */
export function consumerRoutes(app: AppContext, feed: FeedName) {
  const access: Access = { permission: 'bookings.read', provider: true, window: 'insight' }
  const operation = `${feed === 'bookings' ? 'Booking' : 'Message'}Consumer`
  const show = async (consumer: Consumer) => serializeConsumer(consumer, await progressOf(app.db, consumer))
  const read = async (caller: Unchecked['caller'], name: string) =>
    show(await findConsumer(app.db, consumerSetOf(caller, feed), name))
  return routes(app, { prefix: `/integrations/:provider/${feed}/consumers`, tags: ['Consumers'] })
    .get(
      '',
      {
        access,
        response: { 200: Envelope(output.list('Consumers, sorted by name', ConsumerView)) },
        detail: { operationId: `list${operation}s`, summary: `List consumers of the ${feed} feed` },
      },
      async (context) => {
        const consumers = await listConsumers(app.db, consumerSetOf(context.caller, feed))
        const progress = await progressOfAll(app.db, consumers)
        return ok(
          context,
          consumers.map((consumer, index) => serializeConsumer(consumer, progress[index] as Progress)),
        )
      },
    )
    .get(
      '/:name',
      {
        access: { ...access, errors: ['not_found'] },
        response: { 200: Envelope(ConsumerView) },
        detail: { operationId: `get${operation}`, summary: 'Read a consumer and its lag' },
      },
      async (context) => ok(context, await read(context.caller, context.params.name)),
    )
    .put(
      '/:name',
      {
        access: { ...access, body: 'json' },
        body: ConsumerWrite,
        check: nameProblems,
        current: ({ caller, params }) => read(caller, params.name),
        response: { 200: Envelope(ConsumerView) },
        detail: {
          operationId: `put${operation}`,
          summary: 'Create a consumer or acknowledge changes',
        },
      },
      async (context) => {
        const which = { feed, name: context.params.name }
        const consumer = await putConsumer(app, context.caller, which, context.body)
        return ok(context, await show(consumer))
      },
    )
    .delete(
      '/:name',
      {
        access: { ...access, errors: ['not_found'] },
        response: { 200: Envelope(Confirmation) },
        detail: { operationId: `delete${operation}`, summary: 'Delete a consumer' },
      },
      async (context) => {
        await deleteConsumer(app.db, consumerSetOf(context.caller, feed), context.params.name)
        return ok(context, { message: 'The consumer was deleted' })
      },
    )
}
