import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { Config } from '../core/config.ts'
import { type KeyPair, readKeyPair } from './certificate.ts'
import { CountsExchange, type FromWorker, sendTo } from './worker-metrics.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const restartPauseMilliseconds = 1000
/** A worker still alive this long after it was told to stop is killed. The worker's own limit is shorter. */
const patienceMilliseconds = 19_000

/** Environment variable that marks a process as a supervisor's worker. */
export const workerVariable = 'PARTNER_WORKER'

/**
 * Runs the worker processes on one port. A worker that exits unexpectedly is restarted. On SIGHUP, the certificate is
 * reread and the workers are restarted one by one, and each worker stops only once its successor is listening. SIGTERM
 * and SIGINT stop the workers and then this process.
 */
export class Supervisor {
  /** The worker in each slot. */
  private readonly slots: Bun.Subprocess[] = []
  /** Every running worker, whether it is starting, serving or finishing its last requests. */
  private readonly living = new Set<Bun.Subprocess>()
  private readonly exchange = new CountsExchange<Bun.Subprocess>(() => [...this.living])
  private isStopping = false
  private keyPair: KeyPair | null

  /** @throws ConfigError if the certificate cannot be used */
  constructor(
    private readonly config: Pick<Config, 'workers' | 'tls'>,
    private readonly log: Logger,
  ) {
    this.keyPair = config.tls && readKeyPair(config.tls)
  }

  /** Runs until all workers have exited. Returns the exit code. */
  async run(): Promise<number> {
    process.on('SIGTERM', () => this.stop())
    process.on('SIGINT', () => this.stop())
    const started = this.startAll()
    // A restart waits until the initial start and any earlier restart have finished.
    let rolling: Promise<unknown> = started
    process.on('SIGHUP', () => {
      rolling = rolling.then(() => (this.renewCertificate() ? this.roll() : undefined))
    })
    const exitCode = await started
    while (!this.isStopping) await Bun.sleep(200)
    await rolling
    await Promise.all([...this.living].map((worker) => worker.exited))
    return exitCode
  }

  /** Starts the workers one by one, because the first one prepares the database and the demo for the others. */
  private async startAll(): Promise<number> {
    for (let slot = 0; slot < this.config.workers && !this.isStopping; slot += 1) {
      const { worker, listens } = this.launch(slot)
      if (await listens) this.serve(slot, worker)
      else {
        const isAsked = this.isStopping
        this.stop()
        return isAsked ? 0 : worker.exited
      }
    }
    return 0
  }

  private stop(): void {
    this.isStopping = true
    for (const worker of this.living) {
      worker.kill('SIGTERM')
      killAfterTimeout(worker)
    }
  }

  /** Rereads the key pair. If it is unusable, keeps the previous pair and returns false, so no worker is restarted. */
  private renewCertificate(): boolean {
    try {
      this.keyPair = this.config.tls && readKeyPair(this.config.tls)
      return true
    } catch (error) {
      this.log.error(`The previous certificate stays in use: ${(error as Error).message}`)
      return false
    }
  }

  /** Replaces the workers one by one. If a successor does not start, its predecessor keeps the slot. */
  private async roll(): Promise<void> {
    for (let slot = 0; slot < this.config.workers && !this.isStopping; slot += 1) {
      const old = this.slots[slot]
      const { worker, listens } = this.launch(slot)
      if (!(await listens)) {
        if (!this.isStopping)
          this.log.error({ slot }, 'A successor did not start: its predecessor keeps serving')
        continue
      }
      this.serve(slot, worker)
      if (!old) continue
      sendTo(old, { retire: true })
      killAfterTimeout(old)
      await old.exited
    }
  }

  /** Assigns a worker to a slot, and replaces the worker if it exits unexpectedly. */
  private serve(slot: number, worker: Bun.Subprocess): void {
    this.slots[slot] = worker
    worker.exited.then(async (code) => {
      while (!this.isStopping && this.slots[slot] === worker) {
        this.log.error({ slot, code }, 'A worker exited and is being restarted')
        await Bun.sleep(restartPauseMilliseconds)
        if (this.isStopping || this.slots[slot] !== worker) return
        const next = this.launch(slot)
        if (!(await next.listens)) continue
        if (this.slots[slot] === worker) this.serve(slot, next.worker)
        else next.worker.kill('SIGTERM')
      }
    })
  }

  /** Starts a worker. `listens` resolves to true once the worker is listening, or to false if it exits first. */
  private launch(slot: number): { worker: Bun.Subprocess; listens: Promise<boolean> } {
    const { promise: listens, resolve } = Promise.withResolvers<boolean>()
    const worker = Bun.spawn([process.execPath, main], {
      env: { ...process.env, [workerVariable]: String(slot) },
      stdio: [this.keyPair ? Buffer.from(JSON.stringify(this.keyPair)) : 'ignore', 'inherit', 'inherit'],
      ipc: (message: FromWorker, sender) => {
        if (message === 'listening') resolve(true)
        this.exchange.receive(message, sender)
      },
    })
    this.living.add(worker)
    worker.exited.then(() => {
      this.living.delete(worker)
      this.exchange.end(worker)
      resolve(false)
    })
    return { worker, listens }
  }
}

function killAfterTimeout(worker: Bun.Subprocess): void {
  const timer = setTimeout(() => worker.kill('SIGKILL'), patienceMilliseconds)
  worker.exited.then(() => clearTimeout(timer))
}
