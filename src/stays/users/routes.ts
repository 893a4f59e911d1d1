import { parseMoment } from '../../core/clock.ts'
import { Envelope, ok, PageEnvelope } from '../../http/answer/envelope.ts'
import type { AppContext } from '../../http/context.ts'
import { type PageRequest, pageQuery, pagination, toPageRequest } from '../../http/input/pagination.ts'
import { output, requestObject } from '../../http/input/schema/fields.ts'
import { routes } from '../../http/route.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { newUsers } from './create.ts'
import { birthProblems, emailFilterProblems, User, UserCreate, UserInFull, userFilters } from './schema.ts'
import { serializeUser, serializeUserInFull } from './serialize.ts'
import { findUser, listErasedUsers, listUsers } from './store.ts'

const defaultPerPage = 50

/** Returns one page of a host's users, or of those who were erased after a given time. */
function findPage(
  db: Db,
  ownerId: number,
  { email, erased_after }: { email?: string | undefined; erased_after?: string | undefined },
  page: PageRequest,
) {
  if (erased_after === undefined) return listUsers(db, ownerId, email, page)
  return listErasedUsers(db, ownerId, { email, after: parseMoment(erased_after) as Date }, page)
}

/** Defines the routes that create (contract, `POST /v1/users`) and read (decisions §27) the users of the key's host. */
export function userRoutes(app: AppContext) {
  return routes(app, { prefix: '/users', tags: ['Users'] })
    .get(
      '',
      {
        access: { permission: 'users.read' },
        query: requestObject({ ...pageQuery(defaultPerPage, 100), ...userFilters }, emailFilterProblems),
        response: {
          200: PageEnvelope(
            output.list(
              'Users on this page, by id; with `erased_after`, by `erased_at` and then id',
              UserInFull,
            ),
          ),
        },
        detail: {
          operationId: 'listUsers',
          summary: 'List users, find one by e-mail address, or list those who were erased',
          description:
            'Without `erased_after`, users whose personal data was erased are left out; read one of them by id. With it, only they are listed, so that a nightly sync learns of every guest who was erased, also of one without bookings',
        },
      },
      async (context) => {
        const page = toPageRequest(context.query, defaultPerPage)
        const { rows, total } = await findPage(app.db, context.caller.ownerId, context.query, page)
        return ok(context, rows.map(serializeUserInFull), {
          pagination: pagination(page, total, rows.length),
        })
      },
    )
    .get(
      '/:id',
      {
        access: { permission: 'users.read', errors: ['not_found'] },
        response: { 200: Envelope(UserInFull) },
        detail: { operationId: 'getUser', summary: 'Read a user' },
      },
      async (context) => {
        const id = context.params.id
        return ok(context, serializeUserInFull(await findUser(app.db, context.caller.ownerId, id)))
      },
    )
    .post(
      '',
      {
        access: { permission: 'users.write', body: 'json' },
        body: UserCreate,
        check: birthProblems,
        response: { 201: Envelope(User) },
        detail: { operationId: 'createUser', summary: 'Create a user' },
      },
      {
        write: newUsers,
        input: ({ body, caller }) => ({ fields: body, origin: caller }),
        respond: (request, user) => ({
          status: 201,
          envelope: ok(request, serializeUser(user)),
          userId: user.id,
        }),
        afterCommit: () => app.outbox.wake(),
      },
    )
}
