import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { builtIn } from '../../shared/built-in.ts'
import type { Item, PolledFeed } from './feeds.ts'

/**
 * The command that handles a change (`--exec`). Its process has a session and a process group of its own.
 *
 * Without them, Ctrl-C would reach the handler together with the poll: the handler would die in the middle of a change,
 * count as failed, and be given the change again.
 *
 *     running --exits by itself--> its exit code decides whether the change was handled
 *        |
 *        +--endHandler: SIGTERM to the group, SIGKILL after 2 s--> the change was not handled, whatever the exit code
 */

const attempts = 3
const firstPauseMilliseconds = 500

/** Exit codes of `sh` for a command that it found but could not run, and for one that it did not find. */
const cannotRun = [126, 127]

/**
 * Hands a change to the command, in up to three attempts, on its standard input and in environment variables. The change
 * counts as handled only once the promise resolves.
 *
 * @param output the stream that receives the command's own output
 * @throws Error if the command failed each time, or cannot be run
 */
export async function handOver<T extends Item>(
  feed: PolledFeed<T>,
  item: T,
  command: string,
  output: 'stdout' | 'stderr',
): Promise<void> {
  const { PARTNER_API_KEY: _, ...withoutKey } = process.env
  const call = {
    command,
    input: `${JSON.stringify(item)}\n`,
    environment: { ...withoutKey, ...feed.environmentOf(item) },
    output,
  }
  for (let attempt = 1; ; attempt += 1) {
    const code = await runHandler(call)
    if (code === 0) return
    const what = `${feed.describe(item)}, version ${item.version}`
    if (cannotRun.includes(code))
      throw new Error(
        `The command cannot be run (exit code ${code}) at ${what}: it must exist and be executable`,
      )
    if (attempt === attempts)
      throw new Error(`The command failed ${attempts} times (exit code ${code}) at ${what}`)
    await setTimeout(firstPauseMilliseconds * 2 ** (attempt - 1))
  }
}

/** How long a handler may take to end after SIGTERM. */
const graceMilliseconds = 2000

/** The running handler. A poll hands over one change at a time, so there is at most one. */
let running: ChildProcess | undefined
let isEnding = false

/** A command to run, with its input and its output. */
interface HandlerCall {
  /** A command for `sh`. */
  command: string
  /** Text for the command's standard input. */
  input: string
  environment: NodeJS.ProcessEnv
  /** The stream that receives the command's standard output. */
  output: 'stdout' | 'stderr'
}

/** Runs a handler and returns its exit code, which is 128 + n if the signal n ended it. */
async function runHandler({ command, input, environment, output }: HandlerCall): Promise<number> {
  const { spawn } = builtIn('node:child_process')
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
