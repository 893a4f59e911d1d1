import { afterAll, expect, test } from 'vitest'
import { testApp, testEnvironment } from '../../support/app.ts'
import { consumerPoller } from '../../support/consumer-poller.ts'
import { seededRandom } from '../../support/history.ts'
import { startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const service = await testApp()
const server = await startService(testEnvironment())
afterAll(() => server.stop())

/** How often the poller is killed; the soak factor raises it. */
const perPage = 100
const kills = 5 * soakFactor
test(`a poller with a consumer that is killed ${kills} times loses nothing and repeats at most a page each time`, async () => {
  const { book, follow, handled, truth, folder } = await consumerPoller(service, server.url)
  const random = seededRandom(11)
  for (let kill = 0; kill < kills; kill += 1) {
    const child = await follow('--consumer', 'sync')
    await Bun.sleep(200 + random() * 300)
    await Promise.all(Array.from({ length: 10 }, book))
    await Bun.sleep(random() * 60)
    child.kill('SIGKILL')
    await child.exited
  }
  const last = await follow('--consumer', 'sync')
  await Bun.sleep(1000)
  await book()
  const all = await truth()
  while (!(await handled()).includes(all.at(-1) as string)) await Bun.sleep(20)
  last.kill('SIGTERM')
  expect(await last.exited).toBe(0)
  const seen = await handled()
  expect(all.filter((version) => !seen.includes(version))).toEqual([])
  expect(seen.length - new Set(seen).size).toBeLessThanOrEqual(kills * perPage)
  expect(await Array.fromAsync(new Bun.Glob('**/*').scan(folder))).toEqual(['handled'])
})
