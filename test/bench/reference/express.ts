import type { AddressInfo } from 'node:net'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import { Redis } from 'ioredis'
import { destination, pino } from 'pino'
import { pinoHttp } from 'pino-http'
import { type RedisReply, RedisStore } from 'rate-limit-redis'
import { bookingCreate } from './schema.ts'
import { openKeyedBookings, openReferenceStore } from './store.ts'

/** Express in its usual setup: key from the database, limit in Redis, bodies validated, requests logged. */
const store = await openReferenceStore(process.env)
const createBooking = await openKeyedBookings(process.env)
const redis = new Redis(process.env.REDIS_URL ?? '')
const bodies = TypeCompiler.Compile(bookingCreate)
const app = express()
app.use(pinoHttp({ logger: pino(destination('/dev/null')) }))
app.use(
  rateLimit({
    limit: 1_000_000_000,
    windowMs: 60_000,
    keyGenerator: ({ headers }) => String(headers['x-api-key']),
    store: new RedisStore({
      sendCommand: (command: string, ...args: string[]) =>
        redis.call(command, ...args) as Promise<RedisReply>,
    }),
  }),
)
app.use(express.json())
app.use(async ({ headers }, response, next) => {
  if (await store.findKey(String(headers['x-api-key']))) next()
  else response.status(401).json({ error: 'unauthorized' })
})
app.get('/me', async (_, response) => {
  response.json(await store.point())
})
app.get('/feed', async ({ query }, response) => {
  response.json(await store.feedPage(new URLSearchParams(query as Record<string, string>)))
})
app.post('/bookings', async ({ body, headers }, response) => {
  if (bodies.Check(body)) response.json(await createBooking(String(headers['idempotency-key']), body))
  else response.status(422).json({ error: 'validation' })
})
const server = app.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
