import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { CountsExchange, type FromWorker } from './worker-counts.ts'

const main = fileURLToPath(new URL('main.ts', import.meta.url))
const restartPauseMilliseconds = 1000

/** Environment variable that tells a process it is a worker of a supervisor. */
export const workerVariable = 'PARTNER_WORKER'

interface Worker {
  process: Bun.Subprocess
  /** Settles when it listens, or ends before it does. */
  ready: Promise<boolean>
}

/**
 * Runs `count` worker processes on one port. A worker that dies is started again; SIGHUP restarts all of them,
 * one after the other, each only when its successor listens; SIGTERM and SIGINT stop them and then this
 * process. Gives the exit code.
 */
export async function supervise(count: number, log: Logger): Promise<number> {
  const workers: Worker[] = []
  let isStopping = false
  let exitCode = 0

  const exchange = new CountsExchange(() =>
    workers.map(({ process: child }) => child).filter(({ exitCode }) => exitCode === null),
  )
  const start = async (slot: number): Promise<boolean> => {
    const worker = launch(slot, exchange)
    workers[slot] = worker
    worker.process.exited.then((code) => {
      if (isStopping || workers[slot] !== worker) return
      log.error({ slot, code }, 'A worker ended and is started again')
      setTimeout(() => !isStopping && start(slot), restartPauseMilliseconds)
    })
    return worker.ready
  }
  const stop = async () => {
    if (isStopping) return
    isStopping = true
    for (const { process: child } of workers) child.kill('SIGTERM')
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  let rolling = Promise.resolve()
  process.on('SIGHUP', () => {
    rolling = rolling.then(async () => {
      for (let slot = 0; slot < count && !isStopping; slot += 1) {
        const old = workers[slot]
        if (await start(slot)) old?.process.kill('SIGTERM')
        await old?.process.exited
      }
    })
  })

  // The first one alone prepares database and demo; the others find them there.
  for (let slot = 0; slot < count && !isStopping; slot += 1) {
    if (await start(slot)) continue
    exitCode = (await workers[slot]?.process.exited) ?? 1
    await stop()
  }
  await rolling
  while (!isStopping) await Bun.sleep(200)
  await Promise.all(workers.map(({ process: child }) => child.exited))
  return exitCode
}

function launch(slot: number, exchange: CountsExchange): Worker {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const child = Bun.spawn([process.execPath, main], {
    env: { ...process.env, [workerVariable]: String(slot) },
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc(message: FromWorker, sender) {
      if (message === 'listening') resolve(true)
      exchange.receive(message, sender)
    },
  })
  child.exited.then(() => resolve(false))
  return { process: child, ready: promise }
}
