import { readChapterFiles } from './chapter-files.ts'

/** Placeholder in the guide's files for the service's address. */
const exampleAddress = 'https://partners.example.com'

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

/** Returns the guide's chapters, in order. */
export function readChapters(): Chapter[] {
  return Object.entries(readChapterFiles()).map(([file, markdown]) => {
    const [heading = '', summary = ''] = markdown.split('\n\n')
    return { name: file.slice(3, -3), title: heading.replace('# ', ''), summary, markdown }
  })
}

/** Returns a chapter's Markdown as the service serves it, with the service's own address. */
export function servedMarkdown({ markdown }: Chapter, address: string): string {
  return markdown
    .replaceAll(exampleAddress, address)
    .replace(/\]\(\d\d-([a-z-]+)\.md(#[\w-]+)?\)/g, (_, name, anchor = '') => `](/guide/${name}.md${anchor})`)
    .replace(/^\|.*\|$/gm, (row) => row.replace(/ {2,}/g, ' ').replace(/-{3,}/g, '---'))
}

/** Returns the section of a chapter's Markdown to which an anchor leads; undefined if it leads to none. */
export function sectionAt(markdown: string, anchor: string): string | undefined {
  return markdown.split(/^(?=## )/m).find((part) => {
    const [heading = ''] = part.split('\n')
    return heading.startsWith('## ') && slugOf(heading.slice(3).replaceAll('`', '')) === anchor
  })
}

/** True if a chapter has a heading to which the anchor leads. */
export function hasAnchor(markdown: string, anchor: string): boolean {
  const headings = markdown.matchAll(/^#+ (.*)$/gm)
  return [...headings].some(([, heading = '']) => slugOf(heading.replaceAll('`', '')) === anchor)
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

/** Returns the anchor that the guide's pages have for a heading: `What to do` becomes `what-to-do`. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .trim()
    .replace(/\s+/g, '-')
}
