import { readFile } from 'node:fs/promises'
import { UsageError } from './errors.ts'

/**
 * Reads the text of a file, or standard input for `-`.
 *
 * @throws UsageError for a file that cannot be read
 */
export async function readText(file: string): Promise<string> {
  if (file === '-') return Bun.stdin.text()
  return readFile(file, 'utf8').catch(() => {
    throw new UsageError(`Cannot read "${file}"`)
  })
}
