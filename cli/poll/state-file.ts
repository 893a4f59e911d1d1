import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isVersion } from '../../src/http/schema/formats.ts'
import { UsageError } from '../errors.ts'

/** Contents of a state file: the account whose changes a poll follows, and the version of the last change handled. */
export interface State {
  /** Absent for the booking feed. */
  feed?: 'messages' | undefined
  root: string
  account: string
  filters: Record<string, string | undefined>
  version: string
}

/** The file is rewritten after this many lines to keep it small. */
const maxLines = 10_000

/**
 * Reads a state file, which is a line of JSON followed by a line for each version handled since. Ignores a line that a
 * kill or a full disk cut off, and any line that was joined to it. Resuming from an earlier version repeats changes,
 * but loses none.
 *
 * @throws UsageError if the file is not a state file
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
    // Reported below, like any other file that is not a state file.
  }
  throw new UsageError(`"${file}" is not a state file of a feed poll`)
}

/** Writes a state file. */
export interface StateWriter {
  /** Appends a version. Once `append` returns, the version is in the hands of the operating system. */
  append(version: string): void
  /** Waits until the appended versions are on disk. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** Opens a state file for writing; the first version rewrites the whole file. */
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
          // Writes the whole line or throws; `writeSync` could write only part of it if the disk is nearly full.
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

/** Returns an error that names the file affected by a file system failure. */
export function cannotUse(file: string, error: unknown): Error {
  return new Error(`Cannot keep the state in "${file}": ${(error as Error).message}`)
}
