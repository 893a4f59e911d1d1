import { expect, onTestFinished, test } from 'vitest'
import { testEnvironment } from '../../support/app.ts'
import { copyRuntime, startService, workersOf } from '../../support/processes.ts'

test('a worker that cannot be started is tried again each second, and neither an empty slot nor a restart is given up', async () => {
  const runtime = await copyRuntime()
  const service = await startService(testEnvironment({ WORKERS: '2' }), [], 'src/main.ts', runtime.path)
  onTestFinished(() => service.stop())
  const workers = () => workersOf(service.pid)
  const failures = () => service.output().match(/did not start/g)?.length ?? 0
  await expect.poll(async () => (await workers()).length).toBe(2)
  const [first, second] = (await workers()) as [number, number]

  await runtime.hide()
  process.kill(first, 'SIGKILL')
  await expect.poll(failures).toBeGreaterThan(1)
  process.kill(service.pid, 'SIGHUP')
  process.kill(service.pid, 'SIGHUP')
  await expect.poll(failures).toBeGreaterThan(3)
  expect(await workers()).toEqual([second])
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200)

  await runtime.restore()
  const state = async () => {
    const now = await workers()
    return { count: now.length, hasOld: now.includes(second) }
  }
  await expect.poll(state).toEqual({ count: 2, hasOld: false })
})
