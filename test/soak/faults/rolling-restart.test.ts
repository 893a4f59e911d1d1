import { expect, test } from 'vitest'
import { userModel } from '../../../src/stays/users/model.ts'
import { testApp, testEnvironment } from '../../support/app.ts'
import { type RunningNginx, startNginx, withoutKeepAlive } from '../../support/nginx.ts'
import { type ServiceProcess, startService, workersOf } from '../../support/processes.ts'
import { UserLoad } from '../../support/user-load.ts'

const observer = await testApp()
const portOf = ({ url }: ServiceProcess) => Number(new URL(url).port)

/** Restarts services while clients send requests through nginx; no request may fail and no write may be lost. */
async function restartUnderLoad(
  services: ServiceProcess[],
  keepsAlive: boolean,
  restart: (proxy: Pick<RunningNginx, 'renewCertificate'>) => Promise<void>,
) {
  const { key, hostId } = await observer.actor()
  const proxy = await startNginx(services.map(portOf), keepsAlive ? undefined : withoutKeepAlive)
  let isReloaded = false
  const send = (url: string, init: RequestInit) =>
    proxy.fetch(url, init).catch((error) => {
      // A reloaded nginx closes idle connections, on one of which a client may be sending. If nginx had passed the
      // request on, its repetition would fail because the e-mail address is taken.
      if (isReloaded && error.code === 'ECONNRESET') return proxy.fetch(url, init)
      throw error
    })
  const load = new UserLoad(proxy.url, key, send)
  await Bun.sleep(500)
  await restart({
    renewCertificate() {
      isReloaded = true
      return proxy.renewCertificate()
    },
  })
  await Bun.sleep(500)
  await load.stop()
  await proxy.stop()
  const stored = await userModel(observer.live.db).countDocuments({ owner_id: hostId })
  expect(load.created).toBeGreaterThan(0)
  expect({ failures: load.failures, stored }).toEqual({ failures: {}, stored: load.created })
}

/** Makes a service restart its workers, and waits until all previous workers have exited. */
async function roll(service: ServiceProcess): Promise<void> {
  const before = await workersOf(service.pid)
  process.kill(service.pid, 'SIGHUP')
  while ((await workersOf(service.pid)).some((pid) => before.includes(pid))) await Bun.sleep(50)
}

test.concurrent('a service of two workers restarted with SIGHUP behind a proxy with persistent connections fails no request', async () => {
  const service = await startService({ ...testEnvironment(), WORKERS: '2' })
  await restartUnderLoad([service], true, () => roll(service))
  expect(await service.end('SIGTERM')).toBe(0)
})

/** Restarts services one after the other. */
async function restartInTurn(services: ServiceProcess[]): Promise<void> {
  for (const [index, service] of services.entries()) {
    expect(await service.end('SIGTERM')).toBe(0)
    services[index] = await startService({ ...testEnvironment(), PORT: String(portOf(service)) })
    await Bun.sleep(500)
  }
}

test.concurrent('two processes restarted in turn behind a proxy with a connection per request fail no request', async () => {
  const services = await Promise.all([1, 2].map(() => startService(testEnvironment())))
  await restartUnderLoad(services, false, () => restartInTurn(services))
  expect(await Promise.all(services.map((service) => service.end('SIGTERM')))).toEqual([0, 0])
})

test('three processes restarted in turn behind the shipped nginx, which also gets another certificate, fail no request', async () => {
  const services = await Promise.all([1, 2, 3].map(() => startService(testEnvironment())))
  await restartUnderLoad(services, true, async (proxy) => {
    await restartInTurn(services)
    await proxy.renewCertificate()
  })
  expect(await Promise.all(services.map((service) => service.end('SIGTERM')))).toEqual([0, 0, 0])
})
