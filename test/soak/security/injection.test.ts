import { afterAll, expect, test } from 'vitest'
import { sender, testApp, testEnvironment } from '../../support/app.ts'
import { sampledPaths, withRawJson } from '../../support/attack-paths.ts'
import { rawValues, sharpValues } from '../../support/attack-values.ts'
import { startService } from '../../support/processes.ts'
import { prefixes } from '../../support/routes.ts'
import { validBodies } from '../../support/valid-bodies.ts'

const service = await testApp()
const actor = await service.actor()
const bodies = Object.assign(
  {},
  ...(await Promise.all(prefixes.map((prefix) => validBodies(actor, prefix)))),
) as Awaited<ReturnType<typeof validBodies>>
const process = await startService(testEnvironment())
afterAll(() => process.stop())
const send = sender(fetch, process.url)
/** Routes with a window of their own are attacked with a new key every 50 requests. */
let narrow = { key: '', uses: 0 }

async function keyFor(path: string): Promise<string> {
  if (!path.includes('/consumers')) return actor.key
  if (narrow.uses % 50 === 0) narrow = { key: (await service.actor()).key, uses: 0 }
  narrow.uses += 1
  return narrow.key
}

test('every attack in every scalar of every body gets an enveloped response and no 5xx', async () => {
  for (const [name, { path, body }] of Object.entries(bodies)) {
    const method = name.split(' ')[0] as string
    // A route of the sandbox has the handler of the live one.
    const isRepeated = name.includes(' /sandbox') && name.replace('/sandbox', '/v1') in bodies
    const values = isRepeated ? sharpValues : Object.values(rawValues)
    for (const place of sampledPaths(body()))
      await Promise.all(
        values.map(async (raw) => {
          const attack = withRawJson(body(), place, raw)
          const response = await send(method, path, { key: await keyFor(path), body: attack })
          expect(response.status, `${name} ${attack.slice(0, 300)}`).toBeLessThan(500)
          expect('data' in response.body || 'error' in response.body).toBe(true)
        }),
      )
  }
  expect(process.output()).not.toContain('internal_error')
})
