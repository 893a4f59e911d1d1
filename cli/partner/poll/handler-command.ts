import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { setTimeout } from 'node:timers/promises'

/**
 * The process that handles a change (`--exec`). It has a session and a process group of its own.
 *
 * Without them, Ctrl-C would reach the handler together with the poll: the handler would die in the middle of a change,
 * count as failed, and be given the change again.
 *
 *     running --exits by itself--> its exit code decides whether the change was handled
 *        |
 *        +--endHandler: SIGTERM to the group, SIGKILL after 2 s--> the change was not handled, whatever the exit code
 */

/** How long a handler may take to end after SIGTERM. */
const graceMilliseconds = 2000

/** The running handler. A poll hands over one change at a time, so there is at most one. */
let running: ChildProcess | undefined
let isEnding = false

/** A command to run, with its input and its output. */
export interface HandlerCall {
  /** A command for `sh`. */
  command: string
  /** Text for the command's standard input. */
  input: string
  environment: NodeJS.ProcessEnv
  /** The stream that receives the command's standard output. */
  output: 'stdout' | 'stderr'
}

/** Runs a handler and returns its exit code, which is 128 + n if the signal n ended it. */
export async function runHandler({ command, input, environment, output }: HandlerCall): Promise<number> {
  const child = spawn('sh', ['-c', command], {
    stdio: ['pipe', output === 'stdout' ? 1 : 2, 2],
    env: environment,
    detached: true,
  })
  running = child
  // A handler need not read its input, and may exit before all of it was written.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  // The process is about to exit. If this promise resolved, the change could count as handled.
  if (isEnding) return new Promise(() => {})
  running = undefined
  return code ?? 128 + constants.signals[signal as NodeJS.Signals]
}

/** True while a change is being handled. */
export function isHandlerRunning(): boolean {
  return running !== undefined
}

/** Ends the running handler and all of its process group. Its change never counts as handled. */
export async function endHandler(): Promise<void> {
  isEnding = true
  if (!running) return
  const exited = once(running, 'exit')
  signalGroup(running, 'SIGTERM')
  await Promise.race([exited, setTimeout(graceMilliseconds)])
  signalGroup(running, 'SIGKILL')
  await exited
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // All processes of the group have exited.
  }
}
