import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { noteIfPossible } from '../shared/output.ts'
import { standardOutput } from '../shared/streams.ts'
import { endHandler, isHandlerRunning } from './poll/handler-command.ts'

type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/**
 * Returns an `AbortSignal` that the first SIGINT, SIGTERM or SIGHUP aborts, so that the command can finish what it is
 * doing. A second SIGINT or SIGTERM ends the process and the handler that it runs (decisions §15).
 *
 * SIGHUP never counts as the second signal, because a terminal that closes sends several.
 */
export function stopOnSignal(): AbortSignal {
  const controller = new AbortController()
  const onSignal = (name: StopSignal) => {
    if (controller.signal.aborted) {
      if (name !== 'SIGHUP') void endAtOnce(name)
      return
    }
    controller.abort()
    // After SIGHUP, the terminal may be gone.
    if (isHandlerRunning()) noteIfPossible('Waiting for the handler of this change; a second Ctrl-C ends it')
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  if (!isHangUpIgnored()) process.on('SIGHUP', onSignal)
  return controller.signal
}

async function endAtOnce(name: StopSignal): Promise<void> {
  await endHandler()
  // Node does not exit while a write waits for the reader, but the signal itself ends it, with the same exit code.
  if (standardOutput.isWaiting) {
    process.removeAllListeners(name)
    process.kill(process.pid, name)
  } else process.exit(128 + constants.signals[name])
}

/** True under `nohup`, which starts a command so that it outlives its terminal; false where `/proc` is missing. */
function isHangUpIgnored(): boolean {
  try {
    const [, ignored = '0'] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return (BigInt(`0x${ignored}`) & 1n) === 1n
  } catch {
    return false
  }
}

/** Returns the result of `work`, or null if `stop` ended it. Any other error is rethrown, even after a stop. */
export async function untilStopped<T>(stop: AbortSignal, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (stop.aborted && error === stop.reason) return null
    throw error
  }
}

/** Maximum delay of a timer, in milliseconds. */
const maxTimer = 2 ** 31 - 1

/** Sleeps, waking early if `stop` is aborted. */
export async function sleep(seconds: number, stop: AbortSignal): Promise<void> {
  await setTimeout(Math.min(seconds * 1000, maxTimer), undefined, { signal: stop }).catch(() => {})
}
