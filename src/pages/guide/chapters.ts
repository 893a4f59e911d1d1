import { readdirSync, readFileSync } from 'node:fs'

/** The folder with the guide's Markdown files. */
const folder = new URL('../../../docs/guide/', import.meta.url)

/** Placeholder in the guide's files for the service's address. */
export const exampleAddress = 'https://partners.example.com'

/** A chapter of the guide (decisions §27). */
export interface Chapter {
  /** The file's name without its number and extension, such as `safe-retries` for `08-safe-retries.md`. */
  name: string
  title: string
  /** The first paragraph: one sentence that says what the chapter is for. */
  summary: string
  /** The file's unchanged content, in which links to other chapters are file names. */
  markdown: string
}

/** Reads the guide's chapters, in order. */
export function readChapters(): Chapter[] {
  return readdirSync(folder)
    .filter((file) => /^\d\d-.+\.md$/.test(file))
    .sort()
    .map((file) => readChapter(file))
}

function readChapter(file: string): Chapter {
  const markdown = readFileSync(new URL(file, folder), 'utf8')
  const [heading = '', summary = ''] = markdown.split('\n\n')
  return { name: file.slice(3, -3), title: heading.replace('# ', ''), summary, markdown }
}

/**
 * Returns a chapter's Markdown as the service serves it: with the service's own address, with addresses instead of file
 * names in links to other chapters, and without padding in tables.
 *
 * @param suffix added to links to other chapters: `.md` links to their Markdown, an empty suffix to their pages
 */
export function servedMarkdown({ markdown }: Chapter, publicUrl: string, suffix: '.md' | ''): string {
  return markdown
    .replaceAll(exampleAddress, publicUrl)
    .replace(
      /\]\(\d\d-([a-z-]+)\.md(#[\w-]+)?\)/g,
      (_, name, anchor = '') => `](/guide/${name}${suffix}${anchor})`,
    )
    .replace(/^\|.*\|$/gm, (row) => row.replace(/ {2,}/g, ' ').replace(/-{3,}/g, '---'))
}

/** A second-level heading with the text below it, or the text before the first such heading. */
export interface Section {
  chapter: string
  title: string
  href: string
  text: string
}

/** Returns a chapter's sections, for searching. */
export function sectionsOf({ name, title, markdown }: Chapter): Section[] {
  const [beginning = '', ...parts] = markdown.split(/\n## /)
  const sections = parts.map((part) => {
    const [heading = '', ...lines] = part.split('\n')
    const plain = heading.replaceAll('`', '')
    return { title: plain, href: `/guide/${name}#${slugOf(plain)}`, text: plainText(lines.join('\n')) }
  })
  const first = { title, href: `/guide/${name}`, text: plainText(beginning.replace(/^# .*/, '')) }
  return [first, ...sections].map((section) => ({ chapter: title, ...section }))
}

function plainText(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^```.*$|[`*]/gm, '')
    .replace(/\|[ :|-]*/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Returns the anchor that GitHub generates for a heading: `auth_error` is kept, `What to do` becomes `what-to-do`. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .trim()
    .replace(/\s+/g, '-')
}
