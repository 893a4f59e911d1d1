import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testApp } from '../support/app.ts'
import { operationOf } from '../support/routes.ts'
import { valuesOf } from '../support/schema-arbitrary.ts'
import { runs } from '../support/soak.ts'
import { endingWrites, validBodies } from '../support/valid-bodies.ts'

const service = await testApp()
const actor = await service.actor()
const bodies = await validBodies(actor)
const routes = new Map(service.app.routes.map((route) => [`${route.method} ${route.path}`, route]))

function schemasOf(name: string) {
  const route = routes.get(name)
  if (!route) throw new Error(`No route ${name}`)
  return route.hooks.detail.schemas
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of any route
type Body = any

/** Rules that a schema cannot express: ids are the actor's, dates are in order and currencies are known. */
const meanings: Record<string, (generated: Body, valid: Body) => Body> = {
  'POST /v1/users': (body, valid) => ({
    ...body,
    email: valid.email,
    date_of_birth: body.date_of_birth && '1990-01-01',
  }),
  'POST /v1/listings': (body) => ({
    ...body,
    original_id: null,
    original_url: null,
    room_types: named(body.room_types),
  }),
  'PATCH /v1/listings/:id': (body) => ({ ...body, original_id: null, room_types: named(body.room_types) }),
  'POST /v1/bookings': (_, valid) => valid,
  'POST /v1/integrations/:provider/provider-key': (_, valid) => valid,
  'PUT /v1/integrations/:provider/bookings/consumers/:name': (body) => ({ ...body, acknowledged: null }),
  'PUT /v1/integrations/:provider/messages/consumers/:name': (body) => ({ ...body, acknowledged: null }),
  'POST /v1/integrations/:provider/calendars/:room_id/read': (_, valid) => valid,
  'POST /v1/integrations/:provider/calendars/check': (_, valid) => valid,
  'POST /v1/integrations/:provider/availability': (body, valid) => ({
    data: rowsOf(body, valid).map((item) => ({
      ...item,
      ...ordered(item.start_date, item.end_date),
      as_of: null,
    })),
  }),
  'POST /v1/integrations/:provider/rates': (body, valid) => ({
    data: rowsOf(body, valid).map((item) => ({ ...item, currency: null })),
  }),
  'POST /v1/webhooks': (body, { url }) => ({ ...body, url }),
  'PATCH /v1/webhooks/:id': (body, { url }) => ({ ...body, ...(body.url === undefined ? {} : { url }) }),
}

function named(elements: Body[] | undefined): Body[] {
  return (elements ?? []).map((element, index) => ({
    ...element,
    id: `g${index}`,
    name: element.name ?? 'Named',
    rooms: element.rooms ? named(element.rooms) : [],
  }))
}

function rowsOf(body: Body, valid: Body): Body[] {
  const { listing_id, room_type_id } = valid.data[0]
  const items = body.data.length > 0 ? body.data : valid.data
  return items.map((item: Body) => ({ ...item, listing_id, room_type_id }))
}

function ordered(one: string, other: string) {
  return one <= other ? { start_date: one, end_date: other } : { start_date: other, end_date: one }
}

/** Transitions cannot be repeated, whatever their body (`test/stays/bookings/partner-transitions.test.ts`). */
const repeatable = Object.keys(bodies).filter((name) => !isEndingWrite(name))

function isEndingWrite(name: string): boolean {
  const [method = '', path = ''] = name.split(' ')
  return endingWrites.includes(operationOf({ method, path }))
}

test.each(repeatable)(
  '%s accepts every body that its schema describes, and its responses match theirs',
  async (name) => {
    const { path, body: valid } = bodies[name] as (typeof bodies)[string]
    const { body: schema, response: schemas } = schemasOf(name) as {
      body: TSchema
      response: Record<number, TSchema>
    }
    const checks = Object.fromEntries(
      Object.entries(schemas).map(([status, one]) => [status, TypeCompiler.Compile(one)]),
    )
    await fc.assert(
      fc.asyncProperty(valuesOf(schema), async (generated) => {
        // A key's consumers have a limit of their own, 60 requests, and a long soak sends more.
        const { send } = name.includes('consumers') ? await service.actor() : actor
        const sent = meanings[name]?.(generated, valid()) ?? generated
        const response = await send(name.split(' ')[0] as string, path, { body: sent })
        if (response.status >= 300)
          throw new Error(`${response.status} ${response.text} to ${JSON.stringify(sent)}`)
        // A host has at most five webhooks.
        if (name === 'POST /v1/webhooks') await send('DELETE', `${path}/${response.body.data.id}`)
        expect([
          ...(checks[response.status]?.Errors(response.body) ?? [
            { path: `no schema for ${response.status}` },
          ]),
        ]).toEqual([])
      }),
      runs(6, 60),
    )
  },
)

test.each([
  'GET /v1/me',
  'GET /v1/listings',
  'GET /v1/integrations/:provider/bookings',
  'GET /v1/integrations/:provider/availability',
])('the response of %s matches its schema', async (name) => {
  const { response } = schemasOf(name) as { response: Record<number, TSchema> }
  const { status, body } = await actor.send(
    'GET',
    name.split(' ')[1]?.replace(':provider', 'provider_one') as string,
  )
  expect(status).toBe(200)
  expect([...TypeCompiler.Compile(response[200] as TSchema).Errors(body)]).toEqual([])
})
