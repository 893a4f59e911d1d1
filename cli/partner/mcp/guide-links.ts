import { UsageError } from '../../shared/errors.ts'
import { type Chapter, hasAnchor, readChapters, sectionAt, servedMarkdown } from '../guide/chapters.ts'
import { narrowing } from './limit.ts'

/** Files that the service sends as text, without a key. */
const files =
  /^\/(llms(-full)?\.txt|guide\/product\.mjs|openapi(\/\w+)?\.json|workflows\.arazzo\.yaml|docs\/[\w.-]+\.json)$/
/** Pages for people, and other sites. */
const pages = /^(\/docs|\/console|https?:\/\/)/

/** Where a link of the guide leads: to a text, to a file of the service, or to the list of chapters. */
type Linked = { markdown: string; [narrowing]?: string } | { file: string } | { chapters: true }

/** Returns each chapter's name, title and summary. */
export function listChapters() {
  return readChapters().map(({ markdown: _, ...shown }) => shown)
}

/**
 * Finds what a link of the guide leads to (decisions §27): a chapter by its name, file name or address, a section of one,
 * or another file of the service at `base`.
 *
 * @throws UsageError that lists the chapters, for an unknown name
 */
export function findLinked(name: string, base: string): Linked {
  const local = name.startsWith(base) ? name.slice(base.length) : name
  const [address = '', anchor] = local.split('#')
  if (/^\/guide\/?$/.test(address)) return { chapters: true }
  if (files.test(address)) return { file: `${base}${address}` }
  if (pages.test(address))
    return { markdown: `This page is for people: ${address.startsWith('/') ? base : ''}${local}` }
  const chapter = findChapter(address, anchor)
  if (!chapter) {
    const names = readChapters().map((one) => one.name)
    throw new UsageError(`There is no chapter "${name}"; the chapters are ${names.join(', ')}`)
  }
  const markdown = servedMarkdown(chapter, base)
  const section = anchor === undefined ? undefined : sectionAt(markdown, anchor)
  return {
    markdown: section ?? markdown,
    [narrowing]: `"name" and the anchor of a section, such as ${chapter.name}#…`,
  }
}

/** Finds a chapter by its name in any form; a link of an anchor alone leads to the chapter that has the anchor. */
function findChapter(address: string, anchor: string | undefined): Chapter | undefined {
  const chapters = readChapters()
  if (address === '' && anchor !== undefined) return chapters.find((one) => hasAnchor(one.markdown, anchor))
  const [, wanted] = /^(?:\/guide\/)?(?:\d\d-)?([a-z-]+)(?:\.md)?$/.exec(address) ?? []
  return chapters.find((one) => one.name === wanted)
}
