import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Which process is meant, also after its id was given to another one, and whether it still runs.
 *
 * A process id alone says too little: it is given again after a restart of the machine, and every container has a
 * process 1.
 */
export interface ProcessIdentity {
  /** Name of the host, for messages. */
  host: string
  process: number
  /**
   * Names where process ids mean the same: on Linux, one start of the machine and one namespace of process ids, as each
   * container has; elsewhere, the host.
   */
  place: string
  /** When the process began, in the kernel's ticks since the machine started; null where the system does not say it. */
  start: string | null
}

/** Identity of this process. */
export const thisProcess: ProcessIdentity = {
  host: hostname(),
  process: process.pid,
  place: findPlace(),
  start: readStart('self')?.start ?? null,
}

/**
 * Says whether a process runs: `unknown` for one of another place, and if this system does not say enough. A process
 * that is stopped runs.
 */
export function stateOf({ process: id, place, start }: ProcessIdentity): 'running' | 'ended' | 'unknown' {
  if (place !== thisProcess.place) return 'unknown'
  if (!exists(id)) return 'ended'
  const found = readStart(id)
  if (start === null || found === null) return 'unknown'
  return found.start === start && !found.isDead ? 'running' : 'ended'
}

function findPlace(): string {
  try {
    const machineStart = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${machineStart} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

function exists(id: number): boolean {
  try {
    process.kill(id, 0)
    return true
  } catch (error) {
    // A process of another user exists, but may not be signalled.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Returns when a process began, and whether it is dead but not yet collected by its parent; null if unknown. */
function readStart(id: number | 'self'): { start: string; isDead: boolean } | null {
  try {
    const isOwn = id === 'self' || id === process.pid
    // `/proc` may be that of another namespace, in which other processes have these ids.
    if (!isOwn && readlinkSync('/proc/self') !== String(process.pid)) return null
    const text = readFileSync(`/proc/${isOwn ? 'self' : id}/stat`, 'utf8')
    // The second field, the program's name in brackets, may contain anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [state = ''] = fields
    const start = fields[19]
    return start === undefined ? null : { start, isDead: state === 'Z' || state === 'X' }
  } catch {
    return null
  }
}
