import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './support/processes.ts'

const paths = await Array.fromAsync(new Bun.Glob('test/**/*.test.ts').scan(root))

/** Returns the word between a file's name and `.test.ts`, which says how the file runs; undefined if there is none. */
function howItRuns(path: string): string | undefined {
  return path.match(/[^/.]\.(.+)\.test\.ts$/)?.[1]
}

/** The folder in which a word has a meaning: elsewhere, no run would look at it. */
const folders: Record<string, string> = {
  thorough: 'test/',
  served: 'test/cli/',
  alone: 'test/soak/',
  unhurried: 'test/soak/',
}

test("a file's name says how it runs in a word that a run knows", () => {
  const worded = paths.filter((path) => howItRuns(path) !== undefined)
  const unknown = worded.filter((path) => !path.startsWith(folders[howItRuns(path) ?? ''] ?? 'nowhere'))
  expect(worded.length).toBeGreaterThan(0)
  expect(unknown).toEqual([])
})

test('the soak also runs every file that does more in the soak', async () => {
  const deterministic = paths.filter((path) => !path.startsWith('test/soak/'))
  const sources = await Promise.all(deterministic.map((path) => readFile(join(root, path), 'utf8')))
  const doesMore = deterministic.filter((_, index) => /from '.*support\/soak\.ts'/.test(sources[index] ?? ''))
  expect(doesMore.length).toBeGreaterThan(0)
  expect(doesMore.filter((path) => !['thorough', 'served'].includes(howItRuns(path) ?? ''))).toEqual([])
})
