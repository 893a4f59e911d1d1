import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isVersion } from '../../src/http/schema/formats.ts'
import { UsageError } from '../errors.ts'

/** The content of a state file: whose changes a poll follows, and the version of the last one handled. */
export interface State {
  /** Absent for the bookings. */
  feed?: 'messages' | undefined
  root: string
  account: string
  filters: Record<string, string | undefined>
  version: string
}

/** The file is made whole again after this many lines, so that it stays small. */
const maxLines = 10_000

/**
 * Reads a state file: a line of JSON and, after it, a line for each version that was handled since. A line that a kill or
 * a full disk cut off does not count, nor one that was joined to it: the version before repeats a change, and loses none.
 *
 * @throws UsageError for a file that is not one
 */
export async function readState(file: string): Promise<State | undefined> {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw cannotUse(file, error)
  })
  if (text === undefined) return undefined
  const [first = '', ...lines] = text.split('\n')
  try {
    const state = JSON.parse(first)
    const version = lines.slice(0, -1).findLast(isVersion) ?? state.version
    if (isVersion(version) && typeof state.root === 'string') return { ...state, version }
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
    writeFileSync(descriptor, `${JSON.stringify({ ...scope, version })}\n`)
    fsyncSync(descriptor)
    renameSync(fresh, file)
    lines = 0
  }
  return {
    append(version) {
      try {
        if (descriptor === undefined || lines >= maxLines) startOver(version)
        else {
          // All of it or an error: `writeSync` would write a part where the disk is nearly full.
          writeFileSync(descriptor, `${version}\n`)
          lines += 1
          isSynced = false
        }
      } catch (error) {
        throw cannotUse(file, error)
      }
    },
    async sync() {
      try {
        if (descriptor !== undefined && !isSynced) fsyncSync(descriptor)
      } catch (error) {
        throw cannotUse(file, error)
      }
      isSynced = true
    },
    async close() {
      close()
    },
  }
}

/** A failure of the file system, with the file that it is about. */
export function cannotUse(file: string, error: unknown): Error {
  return new Error(`Cannot keep the state in "${file}": ${(error as Error).message}`)
}
