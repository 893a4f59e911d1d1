import { Elysia } from 'elysia'
import type { AppContext } from '../../http/context.ts'
import { Envelope, ok } from '../../http/envelope.ts'
import { guard } from '../../http/guard.ts'
import { runIdempotently } from '../../http/idempotency/idempotency.ts'
import { normalize } from '../../http/schema/normalize.ts'
import { prepareUser } from './create.ts'
import { birthProblems, User, UserCreate } from './schema.ts'
import { serializeUser } from './serialize.ts'

/** Defines the route that creates users of the key's host (contract, `POST /v1/users`). */
export function userRoutes(app: AppContext) {
  return new Elysia({ prefix: '/users', tags: ['Users'] }).use(guard(app)).post(
    '',
    async (context) => {
      const response = await runIdempotently(
        app,
        context,
        () => prepareUser(app, context.caller, normalize(UserCreate, context.body)),
        (user) => ({ status: 201, envelope: ok(context, serializeUser(user)), userId: user.id }),
      )
      app.outbox.wake()
      return response
    },
    {
      access: { permission: 'users.write', body: 'json', idempotent: true, check: birthProblems },
      body: UserCreate,
      response: { 201: Envelope(User) },
      detail: { operationId: 'createUser', summary: 'Create a user' },
    },
  )
}
