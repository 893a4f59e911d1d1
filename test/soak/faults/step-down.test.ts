import { afterAll, expect, test } from 'vitest'
import { testApp, testEnvironment } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'
import { startReplicaSet } from '../../support/replica-set.ts'
import { fill, keyedRoutes, makeOwnIds } from '../../support/routes.ts'
import { soakFactor } from '../../support/soak.ts'

const stepDowns = 7 * soakFactor

const replicas = await startReplicaSet()
afterAll(() => replicas.stop())
const environment = { MONGODB_URL: replicas.url, LOG_LEVEL: 'silent' }
const observer = await testApp(environment)

test(`no read of any route fails while the primary steps down under load (${stepDowns} ×)`, async () => {
  const actor = await observer.actor()
  const ids = await makeOwnIds(actor, '/v1')
  const paths = keyedRoutes(observer, '/v1')
    .filter(({ method }) => method === 'GET')
    .map(({ path }) =>
      path.replace(/([\w-]+)\/:(?!provider)\w+/g, (_, segment) => `${segment}/${ids[segment]}`),
    )
    .map((path) => fill(path))
  const service = await startService(testEnvironment({ ...environment, LOG_LEVEL: 'error' }))
  const failures: string[] = []
  let served = 0
  let isOver = false
  const readers = Array.from({ length: 8 }, async (_, reader) => {
    for (let turn = reader; !isOver; turn += 1) {
      const path = paths[turn % paths.length] as string
      const answer = await fetch(`${service.url}${path}`, { headers: { 'x-api-key': actor.key } })
      const text = await answer.text()
      if (answer.status < 500) served += 1
      else failures.push(`${answer.status} ${path} ${text}`)
    }
  })
  for (let count = 0; count < stepDowns; count += 1) {
    await replicas.stepDown()
    await Bun.sleep(2500)
  }
  isOver = true
  await Promise.all(readers)
  const log = service.output().replace(/^The partner interface is up.*\n\n/, '')
  expect(await service.end('SIGTERM')).toBe(0)
  expect({ failures, log }).toEqual({ failures: [], log: '' })
  expect(served).toBeGreaterThan(1000)
})
