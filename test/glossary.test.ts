import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Glob } from 'bun'
import { expect, test } from 'vitest'
import { root } from './support/processes.ts'

const sources = ['src', 'cli', 'client/src', 'packages']

/** Words that docs/glossary.md retires; each would be a second name for something. */
const retired = [
  { word: 'scope', pattern: /\b[sS]copes?\b(?!=")/, folders: sources },
  { word: 'realm', pattern: /\brealm\b/i, folders: sources },
  { word: 'of_host', pattern: /\bof_host\b/, folders: [...sources, 'docs'] },
  { word: 'mutex', pattern: /mutex/i, folders: sources },
  { word: 'endpoint of a webhook', pattern: /endpoint/i, folders: ['src/changes/webhooks'] },
  { word: 'try of a delivery', pattern: /\bTRIES\b|NEXT TRY/, folders: sources },
]

test.each(retired)('no source calls anything by the retired word $word', async ({ pattern, folders }) => {
  const files: string[] = []
  for (const folder of folders) {
    const found = await Array.fromAsync(new Glob(`${folder}/**/*.{ts,tsx,md}`).scan({ cwd: root }))
    expect(found.length, folder).toBeGreaterThan(0)
    files.push(...found.filter((file) => !isExempt(file)))
  }
  const users: string[] = []
  for (const file of files) {
    if (pattern.test(await readFile(join(root, file), 'utf8'))) users.push(file)
  }
  expect(users).toEqual([])
})

/** Built packages are not sources, and the glossary itself names the retired words. */
function isExempt(file: string): boolean {
  return file.includes('node_modules/') || file === 'docs/glossary.md'
}
