import { expect, test } from 'vitest'
import { isAlive } from '../../../src/platform/process.ts'
import { testApp, testEnvironment } from '../../support/app.ts'
import { startService, workersOf } from '../../support/processes.ts'

const observer = await testApp()

test.concurrent('a rolling restart of two workers under load fails no request, and a killed worker is replaced', async () => {
  const { key } = await observer.actor()
  const service = await startService({ ...testEnvironment(), WORKERS: '2' })
  let isOver = false
  let served = 0
  const failures: string[] = []
  const clients = Array.from({ length: 10 }, async () => {
    while (!isOver) {
      const status = await fetch(`${service.url}/v1/me`, { headers: { 'x-api-key': key } }).then(
        async (response) => (await response.text()) && response.status,
        (error) => String(error),
      )
      if (status === 200) served += 1
      else failures.push(String(status))
    }
  })
  const unready: number[] = []
  // Sends requests like a load balancer that has one address for both workers.
  const balancer = (async () => {
    while (!isOver) {
      const { status } = await fetch(`${service.url}/readyz`, { headers: { connection: 'close' } })
      if (status !== 200) unready.push(status)
      await Bun.sleep(20)
    }
  })()
  const workers = () => workersOf(service.pid)
  const before = await workers()
  process.kill(service.pid, 'SIGHUP')
  while ((await workers()).some((pid) => before.includes(pid)) || (await workers()).length !== 2)
    await Bun.sleep(100)
  const after = await workers()
  isOver = true
  await Promise.all([...clients, balancer])
  expect([failures, unready]).toEqual([[], []])
  expect(served).toBeGreaterThan(500)
  process.kill(after[0] as number, 'SIGKILL')
  while ((await workers()).filter((pid) => pid !== after[0]).length !== 2) await Bun.sleep(100)
  while (
    !(await fetch(`${service.url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await Bun.sleep(50)
  expect(await service.end('SIGTERM')).toBe(0)
})

test.concurrent('SIGTERM in the middle of a rolling restart leaves no worker behind', async () => {
  const stopAfter = async (pause: number) => {
    const service = await startService({ ...testEnvironment(), WORKERS: '2' })
    while ((await workersOf(service.pid)).length < 2) await Bun.sleep(50)
    process.kill(service.pid, 'SIGHUP')
    await Bun.sleep(pause)
    const living = await workersOf(service.pid)
    expect(await service.end('SIGTERM')).toBe(0)
    expect(living.filter(isAlive)).toEqual([])
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow()
  }
  await Promise.all([50, 400, 900].map(stopAfter))
})

test.concurrent('a new worker that dies before it listens leaves the old one in place, and the next restart works', async () => {
  const service = await startService({ ...testEnvironment(), WORKERS: '2' })
  while ((await workersOf(service.pid)).length < 2) await Bun.sleep(50)
  const before = await workersOf(service.pid)
  process.kill(service.pid, 'SIGHUP')
  const successor = async () => (await workersOf(service.pid)).find((pid) => !before.includes(pid))
  while (!(await successor())) await Bun.sleep(10)
  process.kill((await successor()) as number, 'SIGKILL')
  // The other worker is restarted nevertheless.
  while ((await workersOf(service.pid)).filter((pid) => !before.includes(pid)).length !== 1)
    await Bun.sleep(50)
  while ((await workersOf(service.pid)).length !== 2) await Bun.sleep(50)
  expect(await workersOf(service.pid)).toContain(before[0])
  process.kill(service.pid, 'SIGHUP')
  while ((await workersOf(service.pid)).includes(before[0] as number)) await Bun.sleep(50)
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  expect(await service.end('SIGTERM')).toBe(0)
})
