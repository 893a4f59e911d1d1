import { expect, onTestFinished, test } from 'vitest'
import { testEnvironment } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'

test('a service whose log cannot be written still serves, and ends at the first SIGTERM', async () => {
  const toFull = ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh']
  const running = await startService(testEnvironment({ LOG_LEVEL: 'info' }), toFull)
  onTestFinished(running.stop)
  expect((await fetch(`${running.url}/v1/me`)).status).toBe(401)
  // Lines are written within a second; the service must be as good after that as before.
  await Bun.sleep(1500)
  expect((await fetch(`${running.url}/v1/me`)).status).toBe(401)
  expect(await running.end('SIGTERM')).toBe(0)
})
