import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openEmbeddedMongod } from '../../../src/platform/mongo/embedded.ts'
import { isAlive } from '../../../src/platform/process.ts'
import { partnerctl, type ServiceProcess, startService } from '../../support/processes.ts'

/** A data directory of its own for each test, because they run side by side, and what is started on it. */
async function newPlace(onTestFinished: (end: () => Promise<void>) => void) {
  const dataDir = await mkdtemp(join(tmpdir(), 'partner-embedded-'))
  const running: ServiceProcess[] = []
  onTestFinished(async () => {
    await Promise.all(running.map((service) => service.end('SIGTERM')))
    await rm(dataDir, { recursive: true, force: true })
  })
  return {
    dataDir,
    async start(): Promise<ServiceProcess> {
      const service = await startService({ DATA_DIR: dataDir })
      while (!service.output().includes('is up at')) await Bun.sleep(10)
      running.push(service)
      return service
    },
    /** Starts the service without waiting until it is ready. */
    startHastily: () =>
      Bun.spawn([process.execPath, 'src/main.ts'], {
        cwd: new URL('../../..', import.meta.url).pathname,
        env: { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent' },
        stdout: 'ignore',
        stderr: 'ignore',
      }),
    async mongodPid(): Promise<number> {
      return JSON.parse(await readFile(join(dataDir, 'mongod.json'), 'utf8')).pid
    },
    /** All `mongod` processes on the data directory, recorded or not. */
    async serversOnDisk(): Promise<number[]> {
      const { stdout } = await Bun.$`pgrep -f -- ${`--dbpath ${dataDir}/`}`.quiet().nothrow()
      return stdout.toString().trim().split('\n').filter(Boolean).map(Number)
    },
  }
}

const keyIn = (output: string) => /pis_[0-9A-Za-z]{38}/.exec(output)?.[0]

test.concurrent('the first start prints three commands that work with a demo host, and later starts print no secret', async ({
  onTestFinished,
}) => {
  const { dataDir, start } = await newPlace(onTestFinished)
  const first = await start()
  const commands = first
    .output()
    .split('\n')
    .filter((line) => line.startsWith('PARTNER_BASE_URL='))
  expect(commands).toHaveLength(3)
  const results: string[] = []
  for (const command of commands) {
    const child = Bun.spawn(['sh', '-c', command], {
      cwd: new URL('../../..', import.meta.url).pathname,
      env: { PATH: process.env.PATH ?? '', XDG_STATE_HOME: join(dataDir, 'state') },
      stdout: 'pipe',
    })
    results.push(await new Response(child.stdout).text())
    expect(await child.exited).toBe(0)
  }
  expect(results[0]).toContain('Demo host')
  expect(JSON.parse(results[1] as string).data.booking_no).toBe('BK-1')
  expect(results[2]).toContain('pending')
  await first.end('SIGTERM')
  expect(keyIn((await start()).output())).toBeUndefined()
})

test.concurrent('partnerctl without a running service starts and stops mongod by itself, but makes no database', async ({
  onTestFinished,
}) => {
  const { dataDir, mongodPid } = await newPlace(onTestFinished)
  const list = () => partnerctl(['hosts', 'list', '--json'], { DATA_DIR: dataDir })
  const refused = `There is no database in ${dataDir}: set DATA_DIR or MONGODB_URL as for the service\n`
  const { code, stderr } = await list()
  expect([code, stderr]).toEqual([1, refused])
  expect(await readdir(dataDir)).toEqual([])
  await (await openEmbeddedMongod(dataDir)).close()
  const { stdout } = await list()
  expect(JSON.parse(stdout)).toEqual([])
  expect(isAlive(await mongodPid())).toBe(false)
})

test.concurrent('a server whose starter was killed before it had noted it is taken over', async ({
  onTestFinished,
}) => {
  const { dataDir, mongodPid } = await newPlace(onTestFinished)
  const first = await openEmbeddedMongod(dataDir)
  const pid = await mongodPid()
  await rm(join(dataDir, 'mongod.json'))
  const second = await openEmbeddedMongod(dataDir)
  expect([second.url, await mongodPid()]).toEqual([first.url, pid])
  await second.close()
  await first.close()
  expect(isAlive(pid)).toBe(false)
})
