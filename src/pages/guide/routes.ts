import { readFile } from 'node:fs/promises'
import { Elysia } from 'elysia'
import type { Config } from '../../core/config.ts'
import { cacheFor } from '../../platform/time-limits.ts'
import { type Files, serveFiles, textFile } from '../files.ts'
import type { Chapter } from './chapters.ts'

/**
 * Routes of the guide: its pages, their Markdown, `/llms.txt`, and the home page `/` (decisions §27). None of these
 * routes requires a key.
 */
export function guideRoutes({ publicUrl }: Config) {
  const files = cacheFor(Number.POSITIVE_INFINITY, () => makeFiles(publicUrl))
  const serve = serveFiles(async (path) => (await files())[path])
  return new Elysia({ detail: { hide: true } })
    .get('/', serve)
    .get('/guide', serve)
    .get('/guide/:file', serve)
    .get('/llms.txt', serve)
    .get('/llms-full.txt', serve)
}

/** Returns a line of `/llms.txt`, whose reader may not know the address from which the file came. */
function linkTo({ name, title }: Chapter, publicUrl: string): string {
  return `- [${title}](${publicUrl}/guide/${name}.md)`
}

/** Renders everything on the first request, so that no separate build is needed. */
async function makeFiles(publicUrl: string): Promise<Files> {
  const { exampleAddress, readChapters, sectionsOf, servedMarkdown } = await import('./chapters.ts')
  const { renderChapter, renderHome, renderOverview } = await import('./guide-page.ts')
  const chapters = readChapters()
  const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8')
  const markdown = chapters.map((chapter) => servedMarkdown(chapter, publicUrl, '.md'))
  const overview = (await read('../../../docs/guide/llms.txt'))
    .replaceAll(exampleAddress, publicUrl)
    .replace('{chapters}', chapters.map((chapter) => linkTo(chapter, publicUrl)).join('\n'))
  const pages = chapters.flatMap((chapter, index) => [
    [`/guide/${chapter.name}`, textFile(renderChapter(chapter, chapters, publicUrl), 'text/html')],
    [`/guide/${chapter.name}.md`, textFile(markdown[index] ?? '', 'text/markdown')],
  ])
  return {
    ...Object.fromEntries(pages),
    '/': textFile(
      renderHome((await read('../../../docs/guide/home.md')).replaceAll(exampleAddress, publicUrl)),
      'text/html',
    ),
    '/guide': textFile(renderOverview(chapters), 'text/html'),
    '/guide/guide.css': textFile(await read('page/guide.css'), 'text/css'),
    '/guide/guide.js': textFile(await read('page/guide.js'), 'text/javascript'),
    '/guide/product.mjs': textFile(await read('../../../docs/guide/product.mjs'), 'text/javascript'),
    '/guide/search.json': textFile(JSON.stringify(chapters.flatMap(sectionsOf)), 'application/json'),
    '/llms.txt': textFile(overview, 'text/plain'),
    '/llms-full.txt': textFile(`${overview}\n${markdown.join('\n')}`, 'text/plain'),
  }
}
