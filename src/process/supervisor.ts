import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { Config } from '../core/config.ts'
import { type KeyPair, readKeyPair } from './certificate.ts'
import { instanceVariable, readInstance } from './instance.ts'
import { CountsExchange, type FromWorker, sendTo } from './worker-metrics.ts'

/*
 * What one slot goes through; only the loop in `keepSlots` changes a slot.
 *
 *   empty ── a worker listens ──► served ── its worker exits ──────► empty
 *                                   │  ▲
 *                                   │  └── a successor listens; the predecessor retires
 *                                   └───── a restart was asked for after the worker was started
 *
 * A start that fails leaves the slot as it was and is tried again after a pause. Without that, one start that fails,
 * because the runtime's binary is being replaced or memory is short, would end restarts for good: no dead worker would
 * be replaced, and no renewed certificate would ever be served.
 */

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
/** Read once, because the runtime would follow a binary that is moved away instead of naming the one in its place. */
const runtime = process.execPath
/** Pause before a slot whose worker exited or did not start is tried again. */
const retryPauseMilliseconds = 1000
const lookEveryMilliseconds = 100
/** A worker still alive this long after it was told to stop is killed. The worker's own limit is shorter. */
const patienceMilliseconds = 19_000
/** Without a serving worker for this long, the supervisor exits, so that systemd or Kubernetes acts. */
const unservedLimitMilliseconds = 30_000

/** Environment variable that marks a process as a supervisor's worker. */
export const workerVariable = 'PARTNER_WORKER'

/** A place for one worker. */
interface Slot {
  number: number
  /** The worker that serves; null if there is none. */
  worker: Bun.Subprocess | null
  /** How many restarts had been asked for when the worker was started. */
  restarts: number
  /** The `performance.now()` time before which no start is tried in this slot. */
  retryAt: number
}

/**
 * Runs the worker processes on one port. A worker that exits unexpectedly is restarted. On SIGHUP, the certificate is
 * reread and the workers are restarted one by one, and each worker stops only once its successor is listening. SIGTERM
 * and SIGINT stop the workers and then this process.
 */
export class Supervisor {
  private readonly slots: Slot[]
  /** Every running worker, whether it is starting, serving or finishing its last requests. */
  private readonly living = new Set<Bun.Subprocess>()
  private readonly instance = JSON.stringify(readInstance())
  private readonly exchange = new CountsExchange<Bun.Subprocess>(() => [...this.living])
  /** A replaced worker that is finishing its last requests. Until it has exited, no other worker is replaced. */
  private retiring: Bun.Subprocess | null = null
  private restarts = 0
  private isStopping = false
  private exitCode = 0
  private keyPair: KeyPair | null
  /** The `performance.now()` time at which a worker last served; null until the first worker listens. */
  private servedAt: number | null = null

  /** @throws ConfigError if the certificate cannot be used */
  constructor(
    private readonly config: Pick<Config, 'workers' | 'tls'>,
    private readonly log: Logger,
  ) {
    this.keyPair = config.tls && readKeyPair(config.tls)
    this.slots = Array.from({ length: config.workers }, (_, number) => ({
      number,
      worker: null,
      restarts: 0,
      retryAt: 0,
    }))
  }

  /** Runs until all workers have exited. Returns the exit code. */
  async run(): Promise<number> {
    process.on('SIGTERM', () => this.stop())
    process.on('SIGINT', () => this.stop())
    process.on('SIGHUP', () => this.restart())
    const watch = setInterval(() => this.requireService(), lookEveryMilliseconds)
    await this.keepSlots()
    clearInterval(watch)
    while (this.living.size > 0) await Promise.all([...this.living].map((worker) => worker.exited))
    return this.exitCode
  }

  private stop(): void {
    if (this.isStopping) return
    this.isStopping = true
    for (const worker of this.living) {
      worker.kill('SIGTERM')
      killAfterTimeout(worker)
    }
  }

  /**
   * Asks for a restart of every worker. If the key pair is unusable, the previous pair stays in use, and so do all
   * workers.
   */
  private restart(): void {
    try {
      this.keyPair = this.config.tls && readKeyPair(this.config.tls)
      this.restarts += 1
    } catch (error) {
      this.log.error(`The previous certificate stays in use: ${(error as Error).message}`)
    }
  }

  /**
   * Stops this process if no worker has served for too long. The first start may take any length of time, because it
   * may build indexes.
   */
  private requireService(): void {
    const isServed = this.retiring !== null || this.slots.some(({ worker }) => worker !== null)
    if (isServed) this.servedAt = performance.now()
    if (this.isStopping || this.servedAt === null) return
    if (performance.now() - this.servedAt < unservedLimitMilliseconds) return
    this.log.error(`No worker has served for ${unservedLimitMilliseconds / 1000} s: the supervisor exits`)
    this.exitCode = 1
    this.stop()
  }

  /** Starts one worker after the other until told to stop; the first one prepares the database for the others. */
  private async keepSlots(): Promise<void> {
    while (!this.isStopping) {
      const slot = this.nextSlot()
      if (slot) await this.startIn(slot)
      else await Bun.sleep(lookEveryMilliseconds)
    }
  }

  /** Returns the slot that needs a worker next: an empty one, or one whose worker is older than the last restart. */
  private nextSlot(): Slot | undefined {
    const now = performance.now()
    const ready = this.slots.filter(({ retryAt }) => retryAt <= now)
    const empty = ready.find(({ worker }) => worker === null)
    if (empty || this.retiring) return empty
    return ready.find(({ restarts }) => restarts < this.restarts)
  }

  /** Starts a worker in a slot, and retires the slot's previous worker once the new one listens. */
  private async startIn(slot: Slot): Promise<void> {
    const { restarts } = this
    const worker = this.launch(slot.number)
    if (!worker || !(await worker.listens)) {
      await this.noteFailure(slot, worker?.process)
      return
    }
    const old = slot.worker
    slot.worker = worker.process
    slot.restarts = restarts
    this.servedAt = performance.now()
    worker.process.exited.then((code) => this.noteExit(slot, worker.process, code))
    if (old) this.retire(old)
  }

  private retire(worker: Bun.Subprocess): void {
    this.retiring = worker
    sendTo(worker, { retire: true })
    killAfterTimeout(worker)
    worker.exited.then(() => {
      this.retiring = null
    })
  }

  /** Schedules the retry of a start that failed. If no worker has ever served, exits with the worker's exit code. */
  private async noteFailure(slot: Slot, failed: Bun.Subprocess | undefined): Promise<void> {
    slot.retryAt = performance.now() + retryPauseMilliseconds
    if (this.isStopping) return
    if (this.servedAt === null) {
      this.exitCode = failed ? await failed.exited : 1
      this.stop()
      return
    }
    const meanwhile = slot.worker ? 'its predecessor keeps serving' : 'its slot is empty'
    this.log.error({ slot: slot.number }, `A worker did not start and is tried again: ${meanwhile}`)
  }

  private noteExit(slot: Slot, worker: Bun.Subprocess, code: number): void {
    if (slot.worker !== worker) return
    slot.worker = null
    slot.retryAt = performance.now() + retryPauseMilliseconds
    if (!this.isStopping)
      this.log.error({ slot: slot.number, code }, 'A worker exited and is being restarted')
  }

  /**
   * Starts a worker; returns null if the system cannot start it. `listens` resolves to true once the worker is
   * listening, or to false if it exits first.
   */
  private launch(slot: number): { process: Bun.Subprocess; listens: Promise<boolean> } | null {
    const { promise: listens, resolve } = Promise.withResolvers<boolean>()
    const worker = this.spawn(slot, () => resolve(true))
    if (!worker) return null
    this.living.add(worker)
    worker.exited.then(() => {
      this.living.delete(worker)
      void this.exchange.end(worker)
      resolve(false)
    })
    return { process: worker, listens }
  }

  private spawn(slot: number, whenListening: () => void): Bun.Subprocess | null {
    try {
      return Bun.spawn([runtime, main], {
        env: { ...process.env, [workerVariable]: String(slot), [instanceVariable]: this.instance },
        stdio: [this.keyPair ? Buffer.from(JSON.stringify(this.keyPair)) : 'ignore', 'inherit', 'inherit'],
        ipc: (message: FromWorker, sender) => {
          if (message === 'listening') whenListening()
          this.exchange.receive(message, sender)
        },
      })
    } catch (error) {
      this.log.error({ slot }, `Cannot start a process: ${(error as Error).message}`)
      return null
    }
  }
}

function killAfterTimeout(worker: Bun.Subprocess): void {
  const timer = setTimeout(() => worker.kill('SIGKILL'), patienceMilliseconds)
  worker.exited.then(() => clearTimeout(timer))
}
