import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalJWKSet, jwtVerify, SignJWT } from 'jose'
import { afterAll, describe, test } from 'vitest'
import { bounds } from '../../src/certification/course/cases.ts'
import { courseOf } from '../../src/certification/course/course.ts'
import { advance } from '../../src/certification/engine.ts'
import { certificationModel } from '../../src/certification/model.ts'
import { deliveredVersionModel, requestRecordModel } from '../../src/certification/record/model.ts'
import { toVersion } from '../../src/host-clock/format.ts'
import { hostClockModel } from '../../src/host-clock/model.ts'
import { readHostClock } from '../../src/host-clock/store.ts'
import { carryOut } from '../../src/http/write.ts'
import { sentAvailability } from '../../src/inventory/availability/availability-write.ts'
import type { AvailabilityItem } from '../../src/inventory/availability/schema.ts'
import { KeyedQueue } from '../../src/platform/keyed-queue.ts'
import { busy } from '../../src/platform/mongo/errors.ts'
import { signingKey } from '../../src/platform/secrets/signing-keys.ts'
import { countedRule } from '../../src/sandbox/faults/rule.ts'
import { replaceRules } from '../../src/sandbox/store.ts'
import type { Actor, TestResponse } from '../support/app.ts'
import { storeCertification } from '../support/certification.ts'
import { certifyingService } from '../support/certifying.ts'
import { partnerctl } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import { isSoak } from '../support/soak.ts'

const second = 1000
const issuer = 'https://partners.example.com'
/** Short times, so that steps are decided quickly, except a `stepTimeout` that is long enough on a busy machine. */
const times = {
  ...bounds,
  checkInterval: 200,
  silence: 400,
  lossDuration: 300,
  settle: 50,
  stepTimeout: 240 * second,
  catchUp: 0,
  hold: second,
}
const service = await certifyingService(times, { PUBLIC_URL: issuer })
afterAll(() => service.close())
const { db } = service.context.sandbox
const path = '/sandbox/certifications'
const folder = await mkdtemp(join(tmpdir(), 'partner-certification-'))
afterAll(() => rm(folder, { recursive: true }))

/** The starts of these tests take turns, because the service lets one wait for at most 30 s, which two may last. */
const turns = new KeyedQueue(240 * second, busy)
const startWith = (actor: Actor, body: object) => turns.run('start', () => actor.send('POST', path, { body }))
const start = (actor: Actor, ...profiles: string[]) => startWith(actor, { profiles })
/** Ends a certification while it is being started. Tries again if the start was over before. */
async function whileStarting(end: (actor: Actor) => Promise<TestResponse>) {
  for (;;) {
    const actor = await service.actor()
    const starting = start(actor, 'feed')
    const ending = await end(actor)
    const started = await starting
    if (started.status !== 201) return { actor, ending, started }
  }
}

const stored = (id: number) => certificationModel(db).findById(id).lean().orFail()

/** Advances a certification once, based on what the product has done. */
const lookOnce = async (id: number) => advance(service.context.sandbox, times, await stored(id))

/** Resolves with the certification once its next action is `action`. */
async function until(actor: Actor, id: number, action: string | null) {
  for (;;) {
    const found = await service.look(actor.keyId, id)
    if ((found.next?.action ?? null) === action) return found
    await Bun.sleep(50)
  }
}

describe.concurrent('POST /sandbox/certifications', () => {
  test("names the product's last request and the bookings that it waits for", async ({ expect }) => {
    const actor = await service.actor()
    const { data } = (await start(actor, 'feed')).body
    const read = async () => (await actor.send('GET', `${path}/${data.id}`)).body.data.progress
    const nothing = await read()
    expect(nothing).toMatchObject({ last_request_at: null, last_operation: null })
    expect(nothing.missing_count).toBeGreaterThanOrEqual(130)
    const feed = '/sandbox/integrations/provider_one/bookings'
    const first = await actor.send('GET', `${feed}?per_page=100`)
    const { total } = first.body.meta.pagination
    const last = { last_operation: 'GET /sandbox/integrations/:provider/bookings' }
    await expect.poll(read).toMatchObject({ ...last, missing_count: total - 100 })
    // The console's own requests do not count as the product's.
    await actor.send('GET', '/sandbox/integrations/provider_one/messages/consumers')
    expect(await read()).toMatchObject(last)
    const waitedFor: number[] = (await read()).missing_booking_ids
    const rest: { booking_id: number }[] = (await actor.send('GET', `${feed}?per_page=100&page=2`)).body.data
      .Bookings
    expect(waitedFor).toEqual(rest.slice(0, 5).map(({ booking_id }) => booking_id))
    await expect.poll(async () => (await read()).missing_count).toBe(0)
    await actor.send('DELETE', `${path}/${data.id}`)
    expect(await read()).toBeNull()
  })

  test('fills the sandbox with more than a page, asks for the start, and runs once for a key', async ({
    expect,
  }) => {
    const actor = await service.actor()
    const { status, body } = await startWith(actor, { profiles: ['webhooks', 'feed'], seed: 'october' })
    expect(status).toBe(201)
    expect(body.data).toMatchObject({ status: 'running', seed: 'october', profiles: ['feed', 'webhooks'] })
    expect(new Set(body.data.cases.map(({ status: state }: { status: string }) => state))).toEqual(
      new Set(['waiting']),
    )
    const feed = await actor.send('GET', '/sandbox/integrations/provider_one/bookings?per_page=1')
    expect(feed.body.meta.pagination.total).toBeGreaterThanOrEqual(130)
    const { id } = body.data
    const second = await start(actor, 'feed')
    expect({ status: second.status, message: second.body.error.message }).toEqual({
      status: 409,
      message: `Certification ${id} of this key is running; wait until it ends, or end it with DELETE ${path}/${id}`,
    })
    expect((await until(actor, id, 'start')).next?.text).toContain('empty store')
    for (const [method, steering] of [
      ['POST', '/sandbox/clock'],
      ['GET', '/sandbox/faults'],
      ['POST', '/sandbox/scenarios/guest-books'],
    ] as const)
      expect(
        (await actor.send(method, steering, { body: method === 'GET' ? undefined : { advance_seconds: 1 } }))
          .status,
      ).toBe(409)
    await actor.send('DELETE', '/sandbox')
    const ended = await until(actor, body.data.id, null)
    expect({ status: ended.status, because: ended.cases[0]?.because }).toEqual({
      status: 'failed',
      because: 'The sandbox was cleared',
    })
    expect((await actor.send('GET', path)).body.data.map(({ id }: { id: number }) => id)).toEqual([
      body.data.id,
    ])
    expect((await actor.send('GET', '/sandbox/clock')).status).toBe(200)
  })

  test('requires the permissions of the profiles, and refuses unknown profiles', async ({ expect }) => {
    const actor = await service.actor({ permissions: ['bookings.read', 'listings.read'] })
    const refused = await start(actor, 'feed', 'inventory')
    expect({ status: refused.status, message: refused.body.error.errors[0].message }).toEqual({
      status: 403,
      message: 'listings.write',
    })
    for (const profiles of [[], ['feeds'], 'feed', null, ['feed', 'feed', 'feed', 'feed', 'feed']])
      expect((await actor.send('POST', path, { body: { profiles } })).status).toBe(422)
    expect((await actor.send('GET', path)).body.data).toEqual([])
  })
})

/** Moves a certification's course to the start of the step `name`. */
async function begin(id: number, name: string, more: { memo?: object } = {}) {
  const { step, profiles } = await stored(id)
  const index = courseOf(profiles).findIndex((one) => one.name === name)
  const begun = { ...step, index, state: 'begun', began_at: new Date(), ...more }
  await certificationModel(db).updateOne({ _id: id }, { $set: { step: begun }, $inc: { revision: 1 } })
}

/** Resolves with the step `name` once it has been played. */
async function played(id: number, name: string) {
  for (;;) {
    const { step, profiles } = await stored(id)
    if (courseOf(profiles)[step?.index ?? 0]?.name === name && step?.state === 'played') return step
    await Bun.sleep(50)
  }
}

/** Webhooks that get no 2xx response; `bin/test` tries the first. */
const faultyWebhooks: { fault: string; url?: string; status?: number; because: string | RegExp }[] = [
  {
    fault: 'a host name that does not exist',
    // A label of 64 characters is too long for any name server.
    url: `http://${'a'.repeat(64)}.example/`,
    because:
      'The hint got no response (connection: dns): the name of its host could not be resolved; check the `url` of the webhook',
  },
  {
    fault: 'a port on which nothing listens',
    url: 'http://127.0.0.1:1/',
    because:
      'The hint got no response (connection: refused): nothing accepts connections there; check the `url` of the webhook, and that the product is running',
  },
  {
    fault: 'an endpoint that refuses genuine hints',
    status: 401,
    because:
      /^The hint was answered with 401 after \d+ ms: respond 2xx to a hint whose signature and timestamp are correct$/,
  },
]

describe.concurrent('a course', () => {
  test('asks in the 201 for the product to be started, whatever its profiles, and names an existing guest', async ({
    expect,
  }) => {
    for (const profile of ['feed', 'inventory', 'bookings', 'webhooks']) {
      const actor = await service.actor()
      const { data } = (await start(actor, profile)).body
      expect({ profile, status: data.status, action: data.next?.action }).toEqual({
        profile,
        status: 'running',
        action: 'start',
      })
      if (profile !== 'bookings') continue
      const { next } = await until(actor, data.id, 'book')
      expect(next?.user_id).toBe(1001)
    }
  })

  test('states what it waits for while it cannot continue, and responds to held requests once', async ({
    expect,
  }) => {
    const actor = await service.actor()
    const { id } = (await start(actor, 'feed')).body.data
    const { sandbox_id } = await stored(id)
    const listings = db.collection('listings')
    const setStatus = (listing_status: string) =>
      listings.updateMany({ owner_id: sandbox_id as number }, { $set: { listing_status } })
    await setStatus('inactive')
    await begin(id, 'changes', { memo: { after: await readHostClock(db, sandbox_id as number) } })
    await expect
      .poll(async () => (await service.look(actor.keyId, id)).next?.text)
      .toContain('The course cannot continue yet')
    const released = async () => {
      const clock = await hostClockModel(db)
        .findOne({ _id: sandbox_id as number })
        .lean()
      return clock?.released as number
    }
    const before = await released()
    const { revision } = await stored(id)
    // Each failed attempt to play the step stores a new revision.
    await expect.poll(async () => (await stored(id)).revision).toBeGreaterThan(revision)
    expect(await released()).toBe(before)
    await setStatus('published')
    await played(id, 'changes')
    expect((await service.look(actor.keyId, id)).next?.text).toContain('continues by itself')
  })

  test.for(isSoak ? faultyWebhooks : faultyWebhooks.slice(0, 1))(
    'tells a product with $fault what to change',
    async ({ url, status, because }, context) => {
      const { expect } = context
      const actor = await service.actor()
      const { id } = (await start(actor, 'webhooks')).body.data
      const receiver = startReceiver(context, () => new Response(null, { status: status ?? 200 }))
      const body = { url: url ?? receiver.url, events: ['booking.changed'] }
      await actor.send('POST', '/sandbox/webhooks', { body })
      const { sandbox_id } = await stored(id)
      await begin(id, 'hint', { memo: { after: await readHostClock(db, sandbox_id as number) } })
      const graded = async () => {
        const { cases } = await service.look(actor.keyId, id)
        return cases.find(({ name }) => name === 'webhooks.quick')
      }
      await expect.poll(async () => (await graded())?.status, { interval: 300 }).toBe('failed')
      expect((await graded())?.because).toMatch(because)
    },
  )

  test('that is deleted while it is being started leaves a sandbox without a certification', async ({
    expect,
  }) => {
    const deleted = await whileStarting(async (actor) => {
      const first = async () => (await certificationModel(db).findOne({ key_id: actor.keyId }).lean())?._id
      await expect.poll(first, { interval: 5 }).toBeGreaterThan(0)
      return actor.send('DELETE', `${path}/${await first()}`)
    })
    expect(deleted).toMatchObject({
      ending: { status: 200 },
      started: {
        status: 409,
        body: { error: { message: 'The certification has ended in the meantime' } },
      },
    })
    expect((await deleted.actor.send('GET', '/sandbox/clock')).status).toBe(200)
  })

  test('that is cleared while it is being started reports that, and names no field', async ({ expect }) => {
    const cleared = await whileStarting(async (actor) => {
      const users = () => db.collection('users').countDocuments({ owner_id: { $in: sandboxIds } })
      let sandboxIds: number[] = []
      const filled = async () => {
        const open = await db.collection('sandboxes').find({ key_id: actor.keyId, state: 'open' }).toArray()
        sandboxIds = open.map(({ _id }) => Number(_id))
        return users()
      }
      // Waits until the seed data's guests exist. The course creates one more guest before it books.
      await expect.poll(filled, { interval: 5 }).toBeGreaterThan(0)
      return actor.send('DELETE', '/sandbox')
    })
    expect(cleared).toMatchObject({
      ending: { status: 200 },
      started: { status: 409, body: { error: { message: 'The sandbox was cleared in the meantime' } } },
    })
  })

  test("records the real rate limit's refusals like injected ones", async ({ expect }) => {
    const actor = await service.actor({ rateLimit: 3 })
    const { id } = (await start(actor, 'feed')).body.data
    const feed = '/sandbox/integrations/provider_one/bookings'
    const statuses: number[] = []
    for (let count = 0; count < 5; count += 1) statuses.push((await actor.send('GET', feed)).status)
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    const records = await requestRecordModel(db).find({ certification_id: id }).sort({ ordinal: 1 }).lean()
    expect(records.map(({ status, fault }) => ({ status, fault }))).toEqual([
      ...Array(3).fill({ status: 200, fault: null }),
      ...Array(2).fill({ status: 429, fault: 'rate_limited' }),
    ])
  })

  test('stores each version of a booking that it delivered once, whatever the queries', async ({
    expect,
  }) => {
    const actor = await service.actor()
    const { id } = (await start(actor, 'feed')).body.data
    const feed = '/sandbox/integrations/provider_one/bookings'
    const shown = new Set<string>()
    for (let per_page = 100; per_page > 60; per_page -= 1) {
      const { body } = await actor.send('GET', `${feed}?per_page=${per_page}&page=1`)
      for (const one of body.data.Bookings) shown.add(`${one.booking_id} ${one.version}`)
    }
    expect(await deliveredVersionModel(db).countDocuments({ certification_id: id })).toBe(shown.size)
    const records = await requestRecordModel(db).find({ certification_id: id }).lean()
    expect(records.map(({ delivered }) => delivered).toSorted((one, other) => other - one)).toEqual([
      100,
      ...Array(39).fill(0),
    ])
    await actor.send('DELETE', `${path}/${id}`)
    expect(await deliveredVersionModel(db).countDocuments({ certification_id: id })).toBe(0)
  })

  test('accepts at most as many lines of a state as a state may have bookings', async ({ expect }) => {
    const actor = await service.actor()
    const id = await storeCertification(actor.db, actor, 'asked')
    const one = '{"booking_id":1,"status":"pending","checkin_at":"2030-01-01","checkout_at":"2030-02-01"}\n'
    const put = (body: string) => actor.send('PUT', `${path}/${id}/state`, { body })
    for (const rest of ['1\n'.repeat(20_000), one.repeat(10_000)]) {
      const { status, body } = await put(one + rest)
      expect({ status, errors: body.error.errors }).toEqual({
        status: 422,
        errors: [expect.objectContaining({ path: 'bookings', code: 'max' })],
      })
    }
    expect((await put(`${'\n'.repeat(100_000)}${one}${'\n \n'.repeat(100_000)}${one}`)).status).toBe(200)
  })
})

describe.concurrent('a certification', () => {
  test('records deliveries but no sent value, hides its faults, and deletes its records when it ends', async ({
    expect,
  }) => {
    const actor = await service.actor()
    const { id } = (await start(actor, 'bookings')).body.data
    const asked = await until(actor, id, 'book')
    const { listing_id, room_type_id, checkin_at, checkout_at } = asked.next as NonNullable<typeof asked.next>
    const secret = `canary-${crypto.randomUUID()}`
    const body = {
      user_id: 1001,
      listing_id,
      room_type_id,
      checkin_at,
      checkout_at,
      special_requests: secret,
    }
    const book = () =>
      actor.send('POST', '/sandbox/bookings', { body, headers: { 'idempotency-key': secret } })
    // The fault `lost_response` closes the connection without a response, so `fetch` fails.
    await book().catch(() => null)
    await actor.send('GET', '/sandbox/integrations/provider_one/bookings?per_page=3')
    const records = await requestRecordModel(db).find({ certification_id: id }).lean()
    expect(records).toMatchObject([
      { operation: 'POST /sandbox/bookings', fault: 'lost_response', delivered: 0 },
      { operation: 'GET /sandbox/integrations/:provider/bookings', fault: null, delivered: 3 },
    ])
    expect(JSON.stringify(records)).not.toContain(secret)
    const faultsOfBookings = async () => {
      const log = await actor.send('GET', '/sandbox/requests')
      const logged: { path: string; fault: unknown }[] = log.body.data
      return logged.filter((one) => one.path === '/sandbox/bookings').map(({ fault }) => fault)
    }
    await expect.poll(faultsOfBookings).toHaveLength(1)
    expect(await faultsOfBookings()).toEqual([null])
    expect((await actor.send('PUT', `${path}/${id}/state`, { body: { bookings: [] } })).status).toBe(409)
    expect((await actor.send('GET', `${path}/${id}/report`)).status).toBe(409)
    const keys = service.context.live.db.collection('keys')
    await keys.updateOne({ id: actor.keyId }, { $set: { expires_at: new Date(0) } })
    await until(actor, id, null)
    await expect.poll(() => requestRecordModel(db).countDocuments({ certification_id: id })).toBe(0)
    expect(await stored(id)).toMatchObject({ status: 'failed', secret: null, next: null, facts: {} })
  })

  test('makes faults that a response does not name', async ({ expect }) => {
    const actor = await service.actor()
    const { id } = (await start(actor, 'bookings')).body.data
    await until(actor, id, 'book')
    const { sandbox_id } = await stored(id)
    const fault = {
      fault: 'internal_error',
      operation: null,
      route: null,
      event: null,
      after: 0,
      times: 1,
      retry_after_seconds: 1,
      delay_milliseconds: 0,
    } as const
    await replaceRules(db, sandbox_id ?? 0, [countedRule(fault)], id)
    const { status, headers } = await actor.send('GET', '/sandbox/listings')
    expect({ status, isNamed: headers.has('sandbox-fault') }).toEqual({ status: 500, isNamed: false })
  })

  test('grades unusual requests like all others, is hidden by no filter, records 5,000 requests and expires', async ({
    expect,
  }) => {
    const actor = await service.actor()
    const { id } = (await start(actor, 'feed')).body.data
    await until(actor, id, 'start')
    // Neither route accepts this body, and it contains a value that cannot be converted to a string.
    const strange = { data: [{ start_date: { toString: 1 }, end_date: [] }, null, 7] }
    for (const target of ['/sandbox/integrations/provider_one/availability', '/sandbox/bookings'])
      expect((await actor.send('POST', target, { body: strange })).status).toBe(422)
    const feed = '/sandbox/integrations/provider_one/bookings'
    expect((await actor.send('GET', `${feed}?checkout_after=2099-01-01`)).body.data.Bookings).toEqual([])
    await lookOnce(id)
    expect((await service.look(actor.keyId, id)).cases[0]).toMatchObject({
      name: 'feed.pages',
      status: 'waiting',
    })
    expect(await requestRecordModel(db).countDocuments({ certification_id: id })).toBe(3)
    await certificationModel(db).updateOne({ _id: id }, { $set: { requests: 4999 } })
    const { body } = await actor.send('GET', `${feed}?per_page=100&page=2`)
    const { version } = body.data.Bookings.at(-1)
    const held = await actor.send('GET', `${feed}?wait=30&updated_after=${encodeURIComponent(version)}`)
    expect(held.body.data.Bookings).toEqual([])
    expect(await requestRecordModel(db).countDocuments({ certification_id: id })).toBe(4)
    expect((await stored(id)).requests).toBe(5001)
    const longAgo = new Date(Date.now() - bounds.expiry - 1000)
    await certificationModel(db).updateOne(
      { _id: id },
      { $set: { 'step.began_at': longAgo }, $inc: { revision: 1 } },
    )
    expect((await until(actor, id, null)).status).toBe('expired')
  })

  test('judges the uploaded state once, as JSON or as lines', async ({ expect }) => {
    const states: [body: string, status: number][] = [
      ['{"bookings":[]}', 200],
      ['{"booking_id":1,"status":"pending","checkin_at":"2030-01-01","checkout_at":"2030-02-01"}', 200],
      [
        '{"booking_id":1,"status":"pending","checkin_at":"2030-01-01","checkout_at":"2030-02-01"}\n{"booking_id":"2","status":"cancelled","checkin_at":"2030-01-01","checkout_at":"2030-02-01"}\n',
        200,
      ],
      ['{"booking_id":1,"status":"open","checkin_at":"2030-01-01","checkout_at":"2030-02-01"}', 422],
      ['{"booking_id":1}\n{', 422],
      ['', 422],
      ['[]', 422],
      ['null', 422],
    ]
    for (const [body, status] of states) {
      const actor = await service.actor()
      const id = await storeCertification(actor.db, actor, 'asked')
      const put = () => actor.send('PUT', `${path}/${id}/state`, { body })
      expect({ body, status: (await put()).status }).toEqual({ body, status })
      if (status === 200) expect((await put()).status).toBe(409)
    }
  })

  test('drops responses until a second after all changes are visible, and then drops and cuts them anew', async ({
    expect,
  }) => {
    const actor = await service.actor()
    const { id } = (await start(actor, 'feed')).body.data
    await until(actor, id, 'start')
    const { sandbox_id, step } = await stored(id)
    const after = await readHostClock(db, sandbox_id as number)
    const index = courseOf(['feed']).findIndex(({ name }) => name === 'lost')
    await certificationModel(db).updateOne(
      { _id: id },
      {
        $set: { step: { ...step, index, state: 'begun', began_at: new Date(), memo: { after } } },
        $inc: { revision: 1 },
      },
    )
    const feed = `/sandbox/integrations/provider_one/bookings?updated_after=${encodeURIComponent(toVersion(after))}`
    const read = () => actor.send('GET', feed).catch(() => null)
    await expect
      .poll(async () => (await read())?.body?.data?.Bookings.length ?? 0, { interval: 20 })
      .toBeGreaterThan(1)
    const { step: played } = await stored(id)
    expect(played).toMatchObject({ index, state: 'played' })
    expect(Number(played?.played_at) - Number(played?.began_at)).toBeGreaterThan(second)
    const records = await requestRecordModel(db).find({ certification_id: id }).sort({ ordinal: 1 }).lean()
    const last = Number(played?.played_at) - second / 2
    const met = records.filter(({ at }) => Number(at) > last).map(({ fault }) => fault)
    expect([...new Set(met)]).toEqual(['lost_response', 'cut_response', null])
  })

  test('whose start was killed blocks other certifications for at most two minutes', async ({ expect }) => {
    const actor = await service.actor()
    const id = await storeCertification(actor.db, actor, 'asked')
    expect((await start(actor, 'feed')).status).toBe(409)
    await certificationModel(db).updateOne(
      { _id: id },
      { step: null, next: null, started_at: new Date(Date.now() - 121 * second) },
    )
    await expect.poll(async () => (await stored(id)).status).toBe('failed')
    expect((await stored(id)).cases[0]?.because).toBe('The sandbox could not be filled')
    expect((await start(actor, 'feed')).status).toBe(201)
  })

  test('is seen by its key alone, and the last 20 are kept', async ({ expect }) => {
    const actor = await service.actor()
    const other = await service.actor()
    const ids: number[] = []
    for (let count = 0; count < 22; count += 1) ids.push(await storeCertification(actor.db, actor, 'passed'))
    const list = (await actor.send('GET', path)).body.data
    expect(list.map(({ id }: { id: number }) => id)).toEqual(ids.reverse().slice(0, 20))
    expect((await other.send('GET', `${path}/${ids[0]}`)).status).toBe(404)
    expect((await other.send('GET', `${path}/${ids[0]}/report`)).status).toBe(404)
    expect((await other.send('DELETE', `${path}/${ids[0]}`)).status).toBe(404)
  })
})

test.concurrent('a JOSE library verifies a report, and refuses it after one byte has changed', async ({
  expect,
}) => {
  const actor = await service.actor()
  const id = await storeCertification(actor.db, actor, 'passed')
  const { report } = (await actor.send('GET', `${path}/${id}/report`)).body.data
  const jwks = (await service.send('GET', '/.well-known/jwks.json', { key: null })).body
  expect(jwks.keys[0]).toMatchObject({ kty: 'OKP', crv: 'Ed25519', use: 'sig' })
  expect(Object.keys(jwks.keys[0])).not.toContain('d')
  const { payload, protectedHeader } = await jwtVerify(report, createLocalJWKSet(jwks), { issuer })
  expect(protectedHeader.alg).toBe('EdDSA')
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(365 * 86_400)
  expect(payload).toMatchObject({
    host: 'Test host',
    key_name: 'Test key',
    certification: { id, status: 'passed' },
  })
  expect(JSON.stringify(payload)).not.toContain('request_ids')

  const file = join(folder, 'report.jws')
  const keys = join(folder, 'jwks.json')
  await writeFile(keys, JSON.stringify(jwks))
  const verify = async (text: string, ...more: string[]) => {
    await writeFile(file, text)
    const args = ['certify', 'verify', file, '--jwks', keys, '--base-url', issuer, ...more]
    return partnerctl(args, {})
  }
  const genuine = await verify(`${report}\n`)
  expect({ code: genuine.code, stdout: genuine.stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining('genuine'),
  })
  const [head, claims, signature] = report.split('.')
  const forged = Buffer.from(JSON.stringify({ ...payload, host: 'Another' })).toString('base64url')
  const unsigned = Buffer.from('{"alg":"none"}').toString('base64url')
  const { live } = service.context
  const { kid, privateKey } = await signingKey(live.db, live.secrets, new Date())
  const tomorrow = { ...payload, iat: (payload.iat ?? 0) + 86_400, exp: (payload.exp ?? 0) + 86_400 }
  const early = await new SignJWT(tomorrow).setProtectedHeader({ alg: 'EdDSA', kid }).sign(privateKey)
  const changed = `${signature.slice(0, 40)}${signature[40] === 'A' ? 'B' : 'A'}${signature.slice(41)}`
  for (const wrong of [
    `${head}.${forged}.${signature}`,
    `${head}.${claims}.${changed}`,
    `${unsigned}.${claims}.`,
    early,
    'not a report',
    '',
  ])
    expect((await verify(wrong)).code).toBe(1)
  expect((await verify(report, '--base-url', 'https://others.example.com')).code).toBe(1)
})

// What seldom happens. Each of these tests fills a sandbox of its own, so only the soak runs them.
if (isSoak)
  describe.concurrent('a course under unusual conditions', () => {
    test('continues even if the product has closed every night that it was asked about', async ({
      expect,
    }) => {
      const actor = await service.actor()
      const { id } = (await start(actor, 'feed')).body.data
      const days = { start_date: '2020-01-01', end_date: '2099-12-31', available: 0 }
      const data = [
        [2001, 3001],
        [2001, 3002],
        [2002, 3003],
      ].map(([listing_id, room_type_id]) => ({ listing_id, room_type_id, ...days }))
      const path = '/sandbox/integrations/provider_one/availability'
      expect((await actor.send('POST', path, { body: { data } })).status).toBe(200)
      const { sandbox_id } = await stored(id)
      await begin(id, 'changes', { memo: { after: await readHostClock(db, sandbox_id as number) } })
      expect((await played(id, 'changes')).played_at).toBeInstanceOf(Date)
    })

    test('passes no hint case of a product that refuses all hints, even if it reads the feed', async ({
      expect,
      onTestFinished,
    }) => {
      const actor = await service.actor()
      const { id } = (await start(actor, 'webhooks')).body.data
      const { url } = startReceiver({ onTestFinished }, () => new Response(null, { status: 401 }))
      await actor.send('POST', '/sandbox/webhooks', { body: { url, events: ['booking.changed'] } })
      const { sandbox_id } = await stored(id)
      await begin(id, 'webhooks.forged', { memo: { after: await readHostClock(db, sandbox_id as number) } })
      const feed = '/sandbox/integrations/provider_one/bookings'
      const graded = async () => {
        await actor.send('GET', `${feed}?page=2`)
        const { cases } = await service.look(actor.keyId, id)
        return cases.slice(2)
      }
      const refusedToo = 'Cannot be judged because genuine hints are refused too'
      await expect.poll(graded, { interval: 300 }).toMatchObject([
        { name: 'webhooks.forged', status: 'skipped', because: refusedToo },
        { name: 'webhooks.old', status: 'skipped', because: refusedToo },
        {
          name: 'webhooks.doubled',
          status: 'failed',
          because: expect.stringContaining('got the response 401 and the response 401'),
        },
        {
          name: 'webhooks.lost',
          status: 'skipped',
          because: 'Cannot be judged until a hint has been answered with 2xx',
        },
      ])
    })

    test('grades a change by everything pushed for it, even if nights are seen before the push is recorded', async ({
      expect,
    }) => {
      const actor = await service.actor()
      const { id } = (await start(actor, 'inventory')).body.data
      const push = async (data: object[]) =>
        expect(
          (await actor.send('POST', '/sandbox/integrations/provider_one/availability', { body: { data } }))
            .status,
        ).toBe(200)
      const { next: year } = await until(actor, id, 'push_all')
      const { start_date, end_date } = year as NonNullable<typeof year>
      const whole = (year?.room_types ?? []).map((place) => ({
        ...place,
        available: 2,
        start_date,
        end_date,
      }))
      await push(whole)
      const { next } = await until(actor, id, 'push_change')
      const { action: _, text: __, ...asked } = next as NonNullable<typeof next>
      const { sandbox_id } = await stored(id)
      const items = [asked as AvailabilityItem]
      await carryOut(service.context.sandbox, sentAvailability, sandbox_id as number, items)
      await lookOnce(id)
      const graded = async () =>
        (await service.look(actor.keyId, id)).cases.find(({ name }) => name === 'inventory.change')
      expect(await graded()).toMatchObject({ status: 'waiting' })
      await push([...whole, asked])
      await expect.poll(graded).toMatchObject({ status: 'failed' })
    })

    test('passes a push that says with "as_of" that it does not know a booking, and fails one that does not, on which the nights could be sold again', async ({
      expect,
    }) => {
      const found: unknown[] = []
      for (const isInformed of [true, false]) {
        const actor = await service.actor()
        const { id } = (await start(actor, 'inventory')).body.data
        const { sandbox_id } = await stored(id)
        const after = await readHostClock(db, sandbox_id as number)
        const place = { listing_id: 2001, room_type_id: 3001 }
        const nights = { ...place, start_date: '2031-05-01', end_date: '2031-05-07', available: 3 }
        await begin(id, 'push-late', { memo: { after, late: { ...nights, as_of: toVersion(after) } } })
        await played(id, 'push-late')
        const { next } = await until(actor, id, 'push_change')
        const item = { ...nights, as_of: isInformed ? next?.as_of : null }
        const pushed = await actor.send('POST', '/sandbox/integrations/provider_one/availability', {
          body: { data: [item] },
        })
        expect(pushed.status, pushed.text).toBe(200)
        const graded = async () =>
          (await service.look(actor.keyId, id)).cases.find(({ name }) => name === 'inventory.late')
        await expect.poll(graded).not.toMatchObject({ status: 'waiting' })
        found.push(await graded())
      }
      expect(found).toMatchObject([
        { status: 'passed', because: null },
        { status: 'failed', because: expect.stringContaining('send the version up to which you counted') },
      ])
    })

    test('asks for stays that have no night in common, also where the seed once drew one of them twice', async ({
      expect,
    }) => {
      const actor = await service.actor()
      const started = await startWith(actor, { profiles: ['bookings'], seed: 'seed-40' })
      const { id } = started.body.data
      const asked: string[] = []
      /** Books the stay that the course asks for next, repeating the request with the same key after lost responses. */
      const bookNext = async () => {
        for (;;) {
          const { next } = await until(actor, id, 'book')
          const { listing_id, room_type_id, checkin_at, checkout_at } = next as NonNullable<typeof next>
          if (checkin_at === null || asked.includes(checkin_at)) continue
          asked.push(checkin_at, checkout_at as string)
          const body = { user_id: 1001, listing_id, room_type_id, checkin_at, checkout_at }
          const headers = { 'idempotency-key': `stay ${asked.length}` }
          for (;;) {
            const answer = await actor.send('POST', '/sandbox/bookings', { body, headers }).catch(() => null)
            if (answer && answer.status < 500) return answer.status
            await Bun.sleep(400)
          }
        }
      }
      const statuses: number[] = []
      for (let count = 0; count < 3; count += 1) statuses.push(await bookNext())
      expect(statuses).toEqual([201, 422, 201])
      expect(asked).toEqual(asked.toSorted())
      const { next } = await until(actor, id, 'cancel')
      await actor.send('POST', `/sandbox/bookings/${next?.booking_id}/cancel`, { body: {} })
      expect((await until(actor, id, null)).status).toBe('passed')
    })
  })
