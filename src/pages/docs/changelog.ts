import { readFileSync } from 'node:fs'
import { renderMarkdown, renderPage } from '../guide/page.ts'

/** Returns `CHANGELOG.md` as an HTML page. The file begins with the kinds of change that need no notice. */
export function changelogPage(): string {
  const markdown = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8')
  return renderPage({ title: 'Changelog', main: renderMarkdown(markdown) })
}
