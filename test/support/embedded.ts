import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, type ServiceProcess, startService } from './processes.ts'

/** Creates a data directory for one test, because tests run concurrently. Returns functions that start services. */
export async function makeDataDir(onTestFinished: (end: () => Promise<void>) => void) {
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
        cwd: root,
        env: { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent' },
        stdout: 'ignore',
        stderr: 'ignore',
      }),
    async mongodPid(): Promise<number> {
      return JSON.parse(await readFile(join(dataDir, 'mongod.json'), 'utf8')).pid
    },
    /** Returns the ids of all `mongod` processes that use the data directory, whether recorded or not. */
    async serversOnDisk(): Promise<number[]> {
      const { stdout } = await Bun.$`pgrep -f -- ${`--dbpath ${dataDir}/`}`.quiet().nothrow()
      return stdout.toString().trim().split('\n').filter(Boolean).map(Number)
    },
  }
}

/** Returns the key that a first start prints. */
export const keyIn = (output: string) => /pis_[0-9A-Za-z]{38}/.exec(output)?.[0]
