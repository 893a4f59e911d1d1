import rateLimit from '@fastify/rate-limit'
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import { bookingCreate } from './schema.ts'
import { openKeyedBookings, openReferenceStore } from './store.ts'

/** Fastify in its usual setup: key from the database, limit in Redis, bodies validated, requests logged. */
const store = await openReferenceStore(process.env)
const createBooking = await openKeyedBookings(process.env)
const app = Fastify({ logger: { level: 'info', file: '/dev/null' } })
await app.register(rateLimit, {
  max: 1_000_000_000,
  timeWindow: '1 minute',
  redis: new Redis(process.env.REDIS_URL ?? ''),
  keyGenerator: ({ headers }) => String(headers['x-api-key']),
})
app.addHook('preHandler', async ({ headers }, reply) => {
  if (!(await store.findKey(String(headers['x-api-key']))))
    return reply.code(401).send({ error: 'unauthorized' })
})
app.get('/me', () => store.point())
app.get<{ Querystring: Record<string, string> }>('/feed', ({ query }) =>
  store.feedPage(new URLSearchParams(query)),
)
app.post<{ Body: Record<string, unknown> }>(
  '/bookings',
  { schema: { body: bookingCreate } },
  ({ body, headers }) => createBooking(String(headers['idempotency-key']), body),
)
console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
