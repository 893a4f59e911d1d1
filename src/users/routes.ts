import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { door } from '../http/door.ts'
import { Envelope, ok } from '../http/envelope.ts'
import { answerOnce } from '../http/idempotency.ts'
import { normalize } from '../schema/normalize.ts'
import { User, UserCreate } from './schema.ts'
import { prepareUser, toWire } from './store.ts'

/** Creates users of the key's host (contract, `POST /v1/users`). */
export function userRoutes(deps: Deps) {
  return new Elysia({ prefix: '/users', tags: ['Users'] }).use(door(deps)).post(
    '',
    async (context) => {
      const input = normalize(UserCreate, context.body)
      const answer = await answerOnce(
        deps,
        context,
        () => prepareUser(deps, context.caller, input),
        (user) => ({ status: 201, envelope: ok(context, toWire(user)) }),
      )
      deps.outbox.wake()
      return answer
    },
    {
      access: { permission: 'users.write', body: 'json', idempotent: true },
      body: UserCreate,
      response: { 201: Envelope(User) },
      detail: { summary: 'Create a user' },
    },
  )
}
