import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { UsageError } from '../errors.ts'

/** What a state file says: whose changes a poll follows, and the version of the last one handled. */
export interface State {
  /** Absent for the bookings. */
  feed?: 'messages' | undefined
  root: string
  /** Absent in a file of an earlier version, which did not record the account. */
  account?: string
  filters: Record<string, string | undefined>
  version: string
}

/** The file is made whole again after this many lines, so that it stays small. */
const maximumLines = 10_000

/**
 * Reads a state file: a line of JSON and, after it, a line for each version that was handled since. A line that a kill
 * cut off does not count.
 *
 * @throws UsageError for a file that is not one
 */
export async function readState(file: string): Promise<State | undefined> {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const [first = '', ...lines] = text.split('\n')
  try {
    const state = JSON.parse(first)
    const version = lines.slice(0, -1).at(-1) ?? state.version
    if (typeof version === 'string' && typeof state.root === 'string') return { ...state, version }
  } catch {
    // Reported below, like any other file that is not ours.
  }
  throw new UsageError(`"${file}" is not a state file of a feed poll`)
}

/** Writes a state file. */
export interface StateWriter {
  /** Adds a version; the operating system has it when this returns. */
  append(version: string): void
  /** Waits until the disk has it. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** Opens a state file for writing; it is made whole at the first version. */
export function openState(file: string, scope: Omit<State, 'version'>): StateWriter {
  let descriptor: number | undefined
  let lines = 0
  let isSynced = true
  const close = () => {
    if (descriptor === undefined) return
    fsyncSync(descriptor)
    closeSync(descriptor)
    descriptor = undefined
  }
  const startOver = (version: string) => {
    close()
    const fresh = `${file}.new`
    descriptor = openSync(fresh, 'w', 0o600)
    writeSync(descriptor, `${JSON.stringify({ ...scope, version })}\n`)
    fsyncSync(descriptor)
    renameSync(fresh, file)
    lines = 0
  }
  return {
    append(version) {
      if (descriptor === undefined || lines >= maximumLines) startOver(version)
      else {
        writeSync(descriptor, `${version}\n`)
        lines += 1
        isSynced = false
      }
    },
    async sync() {
      if (descriptor !== undefined && !isSynced) fsyncSync(descriptor)
      isSynced = true
    },
    async close() {
      close()
    },
  }
}
