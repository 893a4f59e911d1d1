import { copyFile, mkdtemp, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/platform/process.ts'
import { commandLine } from './command-line.ts'

/**
 * Where the runtime keeps what it has translated, for all processes of a run. It is usually below `HOME`, which these
 * processes do not get. Without it, each start of a service would take a fifth more computing.
 */
export const translated = { BUN_RUNTIME_TRANSPILER_CACHE_PATH: join(tmpdir(), 'partner-translated') }

/** The project folder. */
export const root = new URL('../..', import.meta.url).pathname

/**
 * The services that this process has started and that still run, with the addresses of their databases. A test that
 * fails leaves its services behind. Without this, they would hold the leases of the tests that come after it in the same
 * database, which would then fail as well, and outlive the run.
 */
const running = new Map<ServiceProcess, string>()
process.once('exit', () => {
  for (const { pid } of running.keys()) process.kill(pid, 'SIGKILL')
})

/** Stops the services that still use a database. */
export async function stopServicesOn(database: string): Promise<void> {
  for (const [service, mongodbUrl] of running) if (mongodbUrl.includes(`/${database}?`)) await service.stop()
}

/** A separate service process. */
export interface ServiceProcess {
  url: string
  pid: number
  /** Resolves to the exit code. */
  exited: Promise<number>
  /** Returns everything that the process has printed so far. */
  output(): string
  /** Kills the process, because a graceful shutdown takes a few seconds. Tests of the shutdown use `end`. */
  stop(): Promise<void>
  /** Sends a signal and waits for the process to exit; returns its exit code. */
  end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number>
}

/**
 * Starts `src/main.ts` with exactly these settings and waits until it is ready.
 *
 * @param inside a command prefix that runs the service elsewhere, such as in a namespace
 * @param main a program to start instead of `src/main.ts`
 * @param runtime a copy of the runtime's binary that the test may take away
 */
export async function startService(
  environment: Record<string, string>,
  inside: string[] = [],
  main = 'src/main.ts',
  runtime = process.execPath,
): Promise<ServiceProcess> {
  const port = Number(environment.PORT ?? (await freePort()))
  const child = Bun.spawn([...inside, runtime, main], {
    cwd: root,
    env: {
      PATH: process.env.PATH ?? '',
      ...translated,
      LOG_LEVEL: 'warn',
      ...environment,
      PORT: String(port),
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let output = ''
  const collect = (text: string) => {
    output += text
  }
  for (const stream of [child.stdout, child.stderr]) {
    stream.pipeThrough(new TextDecoderStream()).pipeTo(new WritableStream({ write: collect }))
  }
  const service: ServiceProcess = {
    url: `${environment.TLS_CERT_FILE ? 'https' : 'http'}://127.0.0.1:${port}`,
    pid: child.pid,
    exited: child.exited,
    output: () => output,
    async stop() {
      child.kill('SIGKILL')
      await child.exited
    },
    async end(signal) {
      child.kill(signal)
      return child.exited
    },
  }
  running.set(service, environment.MONGODB_URL ?? '')
  child.exited.then(() => running.delete(service))
  const deadline = Date.now() + 240_000
  while (!(await isReady(service.url))) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`The service did not start (exit code ${child.exitCode}):\n${output}`)
    await Bun.sleep(30)
  }
  return service
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`, {
    tls: { rejectUnauthorized: false },
    signal: AbortSignal.timeout(10_000),
  }).then(
    (response) => response.ok,
    () => false,
  )
}

/** Copies the runtime's binary. While the copy is hidden, every start of a process from it fails. */
export async function copyRuntime() {
  const path = join(await mkdtemp(join(tmpdir(), 'partner-runtime-')), 'bun')
  await copyFile(process.execPath, path)
  return {
    path,
    hide: () => rename(path, `${path}.hidden`),
    restore: () => rename(`${path}.hidden`, path),
  }
}

/** Returns the process ids of a service's workers, including those that are starting or stopping. */
export async function workersOf(pid: number): Promise<number[]> {
  const { stdout } = await Bun.$`pgrep -P ${pid}`.quiet().nothrow()
  return stdout.toString().trim().split('\n').filter(Boolean).map(Number)
}

/** Program of the service's installation, which has the administrators' commands too. */
export const installation = 'cli/main.ts'

export interface CommandResult {
  code: number
  stdout: string
  stderr: string
}

/**
 * Runs `partnerctl` until it exits.
 *
 * @param main a program to run in Bun instead of the command line under test
 */
export async function partnerctl(
  args: string[],
  environment: Record<string, string>,
  stdin?: string,
  main?: string,
): Promise<CommandResult> {
  const program = main === undefined ? commandLine : [process.execPath, main]
  const child = Bun.spawn([...program, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...translated, ...environment },
    stdin: stdin === undefined ? 'ignore' : new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, stdout, stderr }
}

/** Runs `src/main.ts` until it exits; returns the lines it wrote to standard error. */
export async function runService(environment: Record<string, string>) {
  const child = Bun.spawn([process.execPath, 'src/main.ts'], {
    cwd: root,
    env: environment,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const stderr = await new Response(child.stderr).text()
  return { code: await child.exited, lines: stderr.trim().split('\n') }
}
