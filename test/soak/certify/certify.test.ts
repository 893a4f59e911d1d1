import { createRemoteJWKSet, jwtVerify } from 'jose'
import { beforeAll, describe, type ExpectStatic, expect, test } from 'vitest'
import type { CaseName } from '../../../src/certification/course/cases.ts'
import { certificationModel } from '../../../src/certification/model.ts'
import { requestRecordModel } from '../../../src/certification/record/model.ts'
import { serializeCertification } from '../../../src/certification/serialize.ts'
import { findCertification } from '../../../src/certification/store.ts'
import { type Actor, makeActor, sender, testEnvironment } from '../../support/app.ts'
import { certifyingService } from '../../support/certifying.ts'
import { ownDatabase } from '../../support/databases.ts'
import { type ServiceProcess, startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'
import { ClientProduct } from './client-product.ts'
import type { Habits, Wrong } from './product/habits.ts'
import { Product } from './product/product.ts'
import { type Certifiable, certify, failedCases } from './rig.ts'
import { fast } from './times.ts'

/** Maximum number of courses played concurrently. More courses would only wait for the CPU. */
const atOnce = 8

/** Calls `work` with each item, with at most `lanes` calls running at a time. */
async function inTurns<T>(items: T[], work: (item: T) => Promise<void>, lanes = atOnce): Promise<void> {
  const queue = [...items]
  const lane = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** How each correct product works. No correct product may ever fail. */
const right: [string, Habits, string[]][] = [
  ['by page', { reads: 'page' }, ['feed']],
  ['by page, in small ones', { reads: 'page', perPage: 20 }, ['feed']],
  ['by cursor', { reads: 'cursor' }, ['feed']],
  ['by waiting', { reads: 'wait' }, ['feed']],
  ['as a consumer', { reads: 'consumer' }, ['feed']],
  ['by hint, and polling beside', { hinted: true, pause: 5000 }, ['webhooks']],
  ['whose calendar is pushed', {}, ['inventory']],
  ['that books', {}, ['bookings']],
]

/** The wrong products, each named after its mistake, with the only case that it fails. */
const wrong: Record<Wrong, CaseName> = {
  'reads-first-and-last-page': 'feed.pages',
  'local-time': 'feed.changes',
  'fails-at-unknown-cancellations': 'feed.state',
  'ignores-retry-after': 'feed.retry-after',
  'hammers-errors': 'feed.errors',
  'moves-before-reading': 'feed.lost',
  'takes-half-a-body': 'feed.lost',
  'ignores-401': 'feed.unauthorized',
  'forgets-its-position': 'feed.restart',
  'forgets-what-it-missed': 'feed.restart',
  'polls-too-often': 'feed.pace',
  'reads-everything': 'feed.continues',
  'keeps-cancelled-confirmed': 'feed.state',
  'keeps-first-status': 'feed.state',
  'pushes-half-a-year': 'inventory.year',
  'pushes-night-by-night': 'inventory.ranges',
  'pushes-everything-again': 'inventory.change',
  'pushes-through-429': 'inventory.retry-after',
  'repeats-422': 'inventory.refused',
  'sells-again': 'inventory.late',
  'overwrites-units': 'inventory.left',
  'no-key': 'bookings.key',
  'new-key-each-try': 'bookings.lost',
  'repeats-refused-booking': 'bookings.refused',
  'gives-up-when-unavailable': 'bookings.unavailable',
  'slow-endpoint': 'webhooks.quick',
  'hints-unread': 'webhooks.followed',
  'takes-forged': 'webhooks.forged',
  'takes-old': 'webhooks.old',
  'refuses-doubled': 'webhooks.doubled',
  'only-hints': 'webhooks.lost',
}

/**
 * Products that poll from their own clock. They lose nothing until that clock catches up with a burst's versions, which
 * takes minutes.
 */
const byClock: Wrong[] = ['moves-before-reading', 'takes-half-a-body', 'forgets-what-it-missed']

function habitsOf(name: Wrong): Habits {
  const profile = wrong[name].split('.')[0]
  if (profile === 'webhooks')
    return { hinted: true, pause: name === 'hints-unread' ? 30_000 : 5000, wrong: name }
  return {
    reads: name === 'reads-first-and-last-page' ? 'page' : 'cursor',
    // Large pages deliver every change even to a stuck product, so only its stored bookings are wrong.
    ...(name === 'fails-at-unknown-cancellations' ? { perPage: 100 } : {}),
    wrong: name,
  }
}

type Service = Awaited<ReturnType<typeof certifyingService>>

async function play(service: Service, habits: Habits, profiles: string[], seed?: string) {
  const actor = await service.actor()
  const product = new Product(service.url, actor.key, habits)
  const look = (id: number) => service.look(actor.keyId, id)
  return { actor, certification: await certify(actor, product, { profiles, seed }, look) }
}

/** Grades wrong products, each of which must fail only its own case; prints the explanations. */
async function gradeWrong(service: Service, names: Wrong[], expect: ExpectStatic): Promise<void> {
  const table: string[] = []
  const found: Partial<Record<Wrong, string[]>> = {}
  await inTurns(names, async (name) => {
    const { certification } = await play(service, habitsOf(name), [wrong[name].split('.')[0] as string])
    found[name] = failedCases(certification)
    const because = certification.cases.find((one) => one.name === wrong[name])?.because
    table.push(`${name.padEnd(32)} ${found[name].join(', ').padEnd(24)} ${because}`)
  })
  await service.close()
  console.log(table.sort().join('\n'))
  expect(found).toEqual(Object.fromEntries(names.map((name) => [name, [wrong[name]]])))
}

describe('a certification', () => {
  // Started first and awaited last, because these products spend most of their time waiting.
  let waiting: Promise<void>
  beforeAll(async () => {
    const patient = await certifyingService({ ...fast, catchUp: 240_000 })
    waiting = gradeWrong(patient, byClock, expect)
    waiting.catch(() => {})
  })

  test('is passed by every right product, whatever the seed, and leaves nothing behind but its record', async ({
    expect,
  }) => {
    const service = await certifyingService(fast)
    const rounds = Array.from({ length: soakFactor }, (_, round) =>
      right.map((one) => ({ one, round })),
    ).flat()
    const failed: unknown[] = []
    await inTurns(rounds, async ({ one: [name, habits, profiles], round }) => {
      const { certification } = await play(service, habits, profiles, `${name}/${round}/${Math.random()}`)
      if (certification.status !== 'passed') failed.push({ name, ...certification })
    })
    expect(failed).toEqual([])
    const { db } = service.context.sandbox
    // Records of requests in progress at the end of a course are deleted a minute later.
    await expect.poll(() => requestRecordModel(db).countDocuments()).toBe(0)
    expect(await certificationModel(db).countDocuments({ secret: { $ne: null } })).toBe(0)
    await service.close()
  })

  test.concurrent('is failed by every wrong product in its case alone, and the case says why', async ({
    expect,
  }) => {
    const service = await certifyingService(fast)
    const others = (Object.keys(wrong) as Wrong[]).filter((name) => !byClock.includes(name))
    await gradeWrong(service, others, expect)
  })

  test.concurrent("is passed by the client's loop, with a checkpoint and as a consumer", async ({
    expect,
  }) => {
    // The client pauses for five seconds after a held request that ends early, which must not count as a stop.
    const service = await certifyingService({ ...fast, silence: 8000 })
    await Promise.all(
      [false, true].map(async (isConsumer) => {
        const actor = await service.actor()
        const product = new ClientProduct(service.url, actor.key, isConsumer)
        const graded = await certify(actor, product, { profiles: ['feed'] }, (id) =>
          service.look(actor.keyId, id),
        )
        expect({ status: graded.status, failed: failedCases(graded) }).toEqual({
          status: 'passed',
          failed: [],
        })
      }),
    )
    await service.close()
  })

  test.concurrent('is not passed by answering only from the documentation or the request log', async ({
    expect,
  }) => {
    const service = await certifyingService({ ...fast, stepTimeout: 5000, expiry: 15_000 })
    const scripted = async (work: (actor: Actor, asked: { action: string }) => Promise<unknown>) => {
      const actor = await service.actor()
      const product: Certifiable = {
        start() {},
        kill() {},
        close: async () => {},
        act: async () => {},
        register: async () => {},
        stored: new Map([
          [
            5001,
            { booking_id: 5001, status: 'confirmed', checkin_at: '2026-01-01', checkout_at: '2026-03-01' },
          ],
        ]),
      }
      let isOver = false
      const looping = (async () => {
        while (!isOver) {
          await work(actor, { action: '' }).catch(() => {})
          await Bun.sleep(500)
        }
      })()
      const graded = await certify(actor, product, { profiles: ['feed'] }, (id) =>
        service.look(actor.keyId, id),
      )
      isOver = true
      await looping
      return graded
    }
    const path = '/sandbox/integrations/provider_one/bookings'
    const [documented, pleasing] = await Promise.all([
      scripted((actor) => actor.send('GET', `${path}?updated_after=2026-01-31+12:00:05`)),
      // The request log names no fault that the course injects.
      scripted(async (actor) => {
        const log = await actor.send('GET', '/sandbox/requests?per_page=100')
        expect(log.body.data.filter(({ fault }: { fault: string | null }) => fault !== null)).toEqual([])
        const failed = log.body.data.some(({ status }: { status: number }) => status >= 400)
        if (!failed) await actor.send('GET', `${path}?per_page=100`)
      }),
    ])
    expect(documented.status).not.toBe('passed')
    expect(pleasing.status).not.toBe('passed')
    await service.close()
  })

  test('continues in another process if one is killed, and no right product fails because of it', async ({
    expect,
  }) => {
    const environment = testEnvironment({
      MONGODB_URL: await ownDatabase(),
      WEBHOOKS_ALLOW_PRIVATE: 'on',
    })
    // This process only creates keys and reads certifications; it never renews the leader's lease.
    const service = await certifyingService({ ...fast, checkInterval: 1_000_000_000 }, environment)
    const start = () => startService(environment, [], 'test/soak/certify/main.ts')
    const processes: ServiceProcess[] = await Promise.all([start(), start()])
    let isOver = false
    let kills = 0
    const begun = right.map(() => Promise.withResolvers<void>())
    const killing = async () => {
      // A start that is killed blocks its key for two minutes, so the kills begin after all starts.
      await Promise.all(begun.map(({ promise }) => promise))
      for (let index = 0; !isOver; index = 1 - index) {
        await (processes[index] as ServiceProcess).end('SIGKILL')
        kills += 1
        processes[index] = await start()
        for (let second = 0; second < 20 && !isOver; second += 1) await Bun.sleep(1000)
      }
    }
    const base = () => (processes[Math.random() < 0.5 ? 0 : 1] as ServiceProcess).url
    const grading = right.map(async ([name, habits, profiles], place) => {
      const send = (...sending: Parameters<ReturnType<typeof sender>>) =>
        patiently(() => sender(fetch, base())(...sending))
      const actor = await makeActor(service.context.live, send, { rateLimit: 1_000_000 })
      const product = new Product(base, actor.key, habits)
      const look = async (id: number) => {
        begun[place]?.resolve()
        return serializeCertification(await findCertification(service.context.sandbox.db, actor.keyId, id))
      }
      const ended = await certify(actor, product, { profiles }, look)
      return { name, failed: failedCases(ended), status: ended.status }
    })
    try {
      const [graded] = await Promise.all([
        Promise.all(grading).finally(() => {
          isOver = true
        }),
        killing(),
      ])
      expect(kills).toBeGreaterThan(0)
      expect(graded).toEqual(right.map(([name]) => ({ name, failed: [], status: 'passed' })))
    } finally {
      await Promise.all(processes.map((one) => one.stop()))
      await service.close()
    }
  })

  test('is failed by products that poll from their own clock, once the clock has caught up with the versions', () =>
    waiting)
})

/** Repeats a request that fails, because the process that received it may have been killed. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await work()
    } catch {
      await Bun.sleep(200)
    }
}

test("a product's report can be verified by anybody", async ({ expect }) => {
  const service = await certifyingService(fast, { PUBLIC_URL: 'https://partners.example.com' })
  const { actor, certification } = await play(service, {}, ['bookings'])
  expect(certification.status).toBe('passed')
  const { body } = await actor.send('GET', `/sandbox/certifications/${certification.id}/report`)
  const keys = createRemoteJWKSet(new URL(`${service.url}/.well-known/jwks.json`))
  const { payload } = await jwtVerify(body.data.report, keys, { issuer: 'https://partners.example.com' })
  expect(payload).toMatchObject({
    key_name: 'Test key',
    certification: { status: 'passed', profiles: ['bookings'] },
  })
  expect(JSON.stringify(payload)).not.toContain('request_ids')
  await service.close()
})
