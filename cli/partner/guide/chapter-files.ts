import { readdirSync, readFileSync } from 'node:fs'

/**
 * Reads the guide's Markdown files, by file name. The build of the command line replaces this module with one that
 * contains the files, because a partner's machine does not have the repository (decisions §30).
 */
export function readChapterFiles(): Record<string, string> {
  const folder = new URL('../../../docs/guide/', import.meta.url)
  const files = readdirSync(folder).filter((file) => /^\d\d-.+\.md$/.test(file))
  const entries = files.sort().map((file) => [file, readFileSync(new URL(file, folder), 'utf8')])
  return Object.fromEntries(entries)
}
