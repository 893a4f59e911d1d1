import { expect, test } from 'vitest'
import { freePort } from '../../../src/platform/process.ts'
import { testEnvironment } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'

test('HOST=:: serves both families, with one worker and with two, and prints a valid address', async () => {
  for (const WORKERS of ['1', '2']) {
    const port = await freePort()
    const environment = { HOST: '::', PORT: String(port), WORKERS, LOG_LEVEL: 'info' }
    const service = await startService({ ...testEnvironment(), ...environment })
    const printed = () => service.output().match(/is up at (\S+)/)?.[1]
    await expect.poll(printed).toBe(`http://[::1]:${port}`)
    for (const host of ['127.0.0.1', '[::1]']) {
      const { status } = await fetch(`http://${host}:${port}/healthz`)
      expect({ WORKERS, host, status }).toEqual({ WORKERS, host, status: 200 })
    }
    expect(await service.end('SIGTERM')).toBe(0)
  }
})
