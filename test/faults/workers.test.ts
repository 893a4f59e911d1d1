import { expect, test } from 'vitest'
import { testApp, testEnvironment } from '../support/app.ts'
import { startService } from '../support/processes.ts'

test('two workers on one port: a rolling restart under load fails no request, a killed worker is replaced', {
  timeout: 120_000,
}, async () => {
  const { key } = await (await testApp()).actor()
  const service = await startService({ ...testEnvironment(), WORKERS: '2' })
  let isOver = false
  let answered = 0
  const failures: string[] = []
  const clients = Array.from({ length: 10 }, async () => {
    while (!isOver) {
      const status = await fetch(`${service.url}/v1/me`, { headers: { 'x-api-key': key } }).then(
        async (response) => (await response.text()) && response.status,
        (error) => String(error),
      )
      if (status === 200) answered += 1
      else failures.push(String(status))
    }
  })
  const workers = async () => (await Bun.$`pgrep -P ${service.pid}`.text()).trim().split('\n').map(Number)
  const before = await workers()
  process.kill(service.pid, 'SIGHUP')
  while ((await workers()).some((pid) => before.includes(pid)) || (await workers()).length !== 2)
    await Bun.sleep(100)
  const after = await workers()
  isOver = true
  await Promise.all(clients)
  expect(failures).toEqual([])
  expect(answered).toBeGreaterThan(500)
  process.kill(after[0] as number, 'SIGKILL')
  while ((await workers().catch(() => [])).filter((pid) => pid !== after[0]).length !== 2)
    await Bun.sleep(100)
  while (
    !(await fetch(`${service.url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await Bun.sleep(50)
  expect(await service.end('SIGTERM')).toBe(0)
  console.log(`Rolling restart of two workers: ${answered} requests answered, ${failures.length} failed`)
})
