import { expect, test } from 'vitest'
import { isAlive } from '../../../src/platform/process.ts'
import { testApp, testEnvironment } from '../../support/app.ts'
import { copyRuntime, startService, workersOf } from '../../support/processes.ts'

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
  expect({ failures, unready }).toEqual({ failures: [], unready: [] })
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

test.concurrent('a new worker that dies before it listens leaves the old one in place, and is tried again', async () => {
  const service = await startService({ ...testEnvironment(), WORKERS: '2' })
  while ((await workersOf(service.pid)).length < 2) await Bun.sleep(50)
  const before = await workersOf(service.pid)
  process.kill(service.pid, 'SIGHUP')
  const successor = async () => (await workersOf(service.pid)).find((pid) => !before.includes(pid))
  while (!(await successor())) await Bun.sleep(10)
  process.kill((await successor()) as number, 'SIGKILL')
  while (!service.output().includes('its predecessor keeps serving')) await Bun.sleep(20)
  expect(await workersOf(service.pid)).toContain(before[0])
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  // The second try replaces both workers, without another signal.
  while ((await workersOf(service.pid)).some((pid) => before.includes(pid))) await Bun.sleep(50)
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  expect(await service.end('SIGTERM')).toBe(0)
})

test.concurrent('after a restart that could not start anything, SIGTERM still waits for the request in progress', async () => {
  const runtime = await copyRuntime()
  const service = await startService(testEnvironment({ WORKERS: '2' }), [], 'src/main.ts', runtime.path)
  const { key } = await observer.actor()
  while ((await workersOf(service.pid)).length < 2) await Bun.sleep(50)
  await runtime.hide()
  process.kill(service.pid, 'SIGHUP')
  while (!service.output().includes('its predecessor keeps serving')) await Bun.sleep(20)
  const living = await workersOf(service.pid)
  const { promise: rest, resolve: sendRest } = Promise.withResolvers<void>()
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue('{"first_name":"Ada",')
      await rest
      controller.enqueue('"last_name":"Lovelace"}')
      controller.close()
    },
  })
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const answer = fetch(`${service.url}/v1/users`, { method: 'POST', headers, body })
  await Bun.sleep(1000)
  const end = service.end('SIGTERM')
  // By then, a worker without a request in progress has exited.
  while (living.filter(isAlive).length > 1) await Bun.sleep(20)
  expect(isAlive(service.pid)).toBe(true)
  sendRest()
  // The e-mail address is missing.
  expect((await answer).status).toBe(422)
  expect(await end).toBe(0)
  expect(living.filter(isAlive)).toEqual([])
})

test.concurrent('a supervisor that has had no worker for 30 s exits with an error, so that what supervises it acts', async () => {
  const runtime = await copyRuntime()
  const service = await startService(testEnvironment({ WORKERS: '2' }), [], 'src/main.ts', runtime.path)
  while ((await workersOf(service.pid)).length < 2) await Bun.sleep(50)
  const living = await workersOf(service.pid)
  await runtime.hide()
  const since = performance.now()
  for (const pid of living) process.kill(pid, 'SIGKILL')
  expect(await service.exited).toBe(1)
  expect(performance.now() - since).toBeGreaterThan(29_000)
  expect(service.output()).toContain('No worker has served for 30 s')
})
