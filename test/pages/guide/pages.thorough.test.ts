import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findingCodes, severities } from '../../../src/changes/health/findings.ts'
import { serializeFinding } from '../../../src/changes/health/serialize.ts'
import { readChapters } from '../../../src/pages/guide/chapters.ts'
import { partnerctlHere as partnerctl } from '../../support/admin.ts'
import { sharedServices, testApp } from '../../support/app.ts'
import { expectAccessible, openBrowser, phone } from '../../support/browser.ts'
import { root } from '../../support/processes.ts'
import { samplesOf } from '../../support/samples.ts'

const service = await testApp()
const [server] = sharedServices()
const browser = await openBrowser(server.url)
const chapters = readChapters()
const addresses = ['/', '/guide', '/docs/changelog', ...chapters.map(({ name }) => `/guide/${name}`)]

const get = async (path: string) => {
  const response = await service.app.handle(new Request(`http://localhost${path}`))
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const sizeOf = async (path: string) => Buffer.byteLength((await get(path)).text)

test('a chapter is 3 to 9 kB as Markdown, and below 60 kB as a page with its style and script', async () => {
  const around = (await sizeOf('/guide/guide.css')) + (await sizeOf('/guide/guide.js'))
  for (const { name } of chapters) {
    const markdown = await sizeOf(`/guide/${name}.md`)
    expect(markdown, name).toBeGreaterThanOrEqual(3000)
    expect(markdown, name).toBeLessThanOrEqual(9216)
    expect((await sizeOf(`/guide/${name}`)) + around, name).toBeLessThan(60_000)
  }
})

/** The pictures of the home page and the chapters, each with its text and the page's path. */
const home = { path: '/', markdown: await readFile(join(root, 'docs/guide/home.md'), 'utf8') }
const pictures = [
  home,
  ...chapters.map(({ name, markdown }) => ({ path: `/guide/${name}`, markdown })),
].flatMap(({ path, markdown }) =>
  [...markdown.matchAll(/^```picture ([a-z-]+)\n([^`]+)^```$/gm)].map(([, name = '', text = '']) => ({
    name,
    text,
    path,
  })),
)
const wordsOf = (text: string): string[] =>
  text.toLowerCase().match(/[\p{L}\d_]+(?:[.’'-][\p{L}\d]+)*/gu) ?? []

test('every picture is drawn on its page, and described by a text that has every word and number of it', async () => {
  const drawn = await readdir(join(root, 'docs/guide/pictures'))
  expect(pictures.map(({ name }) => `${name}.svg`).sort()).toEqual(drawn.sort())
  for (const { name, text, path } of pictures) {
    const page = (await get(path)).text
    expect(page).not.toContain('language-picture')
    const start = `<svg role="img" aria-labelledby="${name}-title ${name}-text"`
    const [drawing = ''] = page.match(new RegExp(`${start}[\\s\\S]*?</svg>`)) ?? []
    expect(drawing).toMatch(
      new RegExp(`<title id="${name}-title">.+</title><desc id="${name}-text">.+</desc>`),
    )
    const said = wordsOf(text.replaceAll('\n', ' ').replaceAll("'", '’'))
    const shown = [...drawing.matchAll(/<text .*?<\/text>/g)].map(([label]) => label.replace(/<[^>]+>/g, ''))
    expect({ name, unsaid: shown.flatMap(wordsOf).filter((word) => !said.includes(word)) }).toEqual({
      name,
      unsaid: [],
    })
    // The page's policy refuses inline styles and scripts, and colours of its own would ignore the colour scheme.
    expect(drawing, name).not.toMatch(/<style|<script|<image|style=|href=| on\w+=|#[\da-f]{3,6}"|rgb\(/i)
  }
})

test('readers of the Markdown get the text of a picture instead of its drawing', async () => {
  const full = (await get('/llms-full.txt')).text
  for (const { text, path } of pictures.filter(({ path }) => path !== '/')) {
    const markdown = (await get(`${path}.md`)).text
    const printed = await partnerctl(['guide', path.replace('/guide/', '')], {})
    for (const one of [markdown, full, printed.stdout]) {
      expect(one).toContain(text)
      expect(one).not.toContain('<svg')
    }
  }
})

test('samples are highlighted, and their text stays as it was written', async () => {
  for (const { name } of chapters) {
    const { text } = await get(`/guide/${name}`)
    const codes = [...text.matchAll(/<pre tabindex="0"><code>([\s\S]*?)<\/code>/g)].map(
      ([, code = '']) => code,
    )
    const plain = codes.map((code) =>
      code
        .replace(/<\/?span[^>]*>/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&#x27;', "'")
        .replaceAll('&amp;', '&'),
    )
    expect(plain).toEqual(samplesOf(name, service.live.config.publicUrl).map(({ code }) => code))
    expect(codes.join(), name).toContain('<span class="string">')
  }
  const { text } = await get('/guide/polling')
  for (const keyword of ['while', 'import', 'def'])
    expect(text).toContain(`<span class="keyword">${keyword}</span>`)
})

test('every link of every page leads to a page that exists, and to a heading on it', async () => {
  const pages = new Map<string, string>()
  const read = async (path: string) => {
    const known = pages.get(path)
    if (known !== undefined) return known
    const { status, text } = await get(path)
    expect(status, path).toBe(200)
    pages.set(path, text)
    return text
  }
  for (const address of addresses) {
    for (const [, href = ''] of (await read(address)).matchAll(/(?:href|src)="([^"]+)"/g)) {
      if (/^(data:|https:\/\/www\.standardwebhooks\.com)/.test(href)) continue
      const [path = '', anchor] = href.split('#')
      const text = await read(path || address)
      if (anchor) expect(text, `${address} links to ${href}`).toContain(`id="${anchor}"`)
    }
  }
  for (const { name } of chapters)
    for (const [, href = ''] of (await get(`/guide/${name}.md`)).text.matchAll(/\]\((\/[^)#]+)/g))
      await read(href)
})

test('every page and every unknown path lead agents to /llms.txt', async () => {
  for (const path of [...addresses, '/docs', '/console']) {
    const { text, headers } = await get(path)
    expect(text, path).toContain('href="/llms.txt"')
    expect(headers.get('link'), path).toBe('</llms.txt>; rel="llms-txt"')
  }
  const unknown = await get('/v2/users')
  expect({ status: unknown.status, link: unknown.headers.get('link') }).toEqual({
    status: 404,
    link: '</llms.txt>; rel="llms-txt"',
  })
  expect(JSON.parse(unknown.text).error).toEqual({
    type: 'not_found',
    message: 'No such route; see /llms.txt',
    errors: [],
    request_id: unknown.headers.get('x-request-id'),
  })
})

test('/llms.txt is 2 to 4 kB and lists all chapters, and /llms-full.txt has their text', async () => {
  const { text: overview } = await get('/llms.txt')
  const { text: full } = await get('/llms-full.txt')
  expect(Buffer.byteLength(overview)).toBeGreaterThan(2000)
  expect(Buffer.byteLength(overview)).toBeLessThanOrEqual(4096)
  expect(overview, 'relative links').not.toMatch(/\]\((?!http)/)
  for (const { name, title } of chapters) {
    expect(overview).toContain(`- [${title}](${service.live.config.publicUrl}/guide/${name}.md)`)
    expect(full).toContain(`# ${title}\n`)
  }
  expect(overview + full).not.toContain('partners.example.com')
})

test('each error type and code has a heading of its own', async () => {
  const { text } = await get('/guide/errors')
  const document = (await get('/openapi.json')).text
  const types = new Set([...document.matchAll(/"error":\{"type":"(\w+)","message"/g)].map(([, type]) => type))
  expect(types.size).toBe(10)
  for (const type of types) expect(text).toContain(`<h2 id="${type}">`)
  for (const code of JSON.parse(document).components.schemas.Problem.properties.code.examples)
    expect(text).toContain(`<h3 id="code-${code}">`)
})

test('each kind of finding has a section, to which the finding itself leads', async () => {
  for (const code of findingCodes) {
    const finding = { code, severity: severities[code], since: null, message: '', details: {} }
    const { guide } = serializeFinding(finding, service.live.config.publicUrl)
    const { pathname, hash } = new URL(guide)
    expect((await get(pathname)).text, guide).toContain(`<h2 id="${hash.slice(1)}">`)
  }
})

test.each(['/', '/guide', '/guide/polling', '/guide/quiet-or-broken'])(
  '%s is accessible and fits',
  async (path) => {
    const { page, complaints } = await browser.open(path)
    await expectAccessible(page, path)
    expect(complaints).toEqual([])
    await page.close()
  },
)

test('on a phone, the words of every picture are at least 12 pixels high and inside of it', async () => {
  const { page, complaints } = await browser.open('/', phone)
  for (const { name, path } of pictures) {
    await page.goto(server.url + path)
    const misplaced = await page
      .locator(`.picture [aria-labelledby^="${name}-title "]`)
      .evaluate((drawing) => {
        const { left, right, top, bottom } = drawing.getBoundingClientRect()
        const scale = (right - left) / (drawing as SVGSVGElement).viewBox.baseVal.width
        const isMisplaced = (text: Element) => {
          const box = text.getBoundingClientRect()
          const isOutside = box.left < left || box.right > right || box.top < top || box.bottom > bottom
          return isOutside || Number.parseFloat(getComputedStyle(text).fontSize) * scale < 12
        }
        return [...drawing.querySelectorAll('text')].filter(isMisplaced).map(({ textContent }) => textContent)
      })
    expect({ name, misplaced }).toEqual({ name, misplaced: [] })
  }
  expect(complaints).toEqual([])
  await page.close()
})

test('without a script a chapter shows the samples of all languages', async () => {
  const { page } = await browser.open('/guide/polling', phone, false, false)
  for (const language of ['curl', 'JavaScript', 'Python'])
    expect(await page.locator('figcaption', { hasText: language }).first().isVisible()).toBe(true)
  expect(await page.getByRole('searchbox').isVisible()).toBe(false)
  await page.close()
})

test('the chosen language is shown everywhere, and on the next chapter', async () => {
  const { page } = await browser.open('/guide/first-booking')
  await page.getByRole('button', { name: 'Python' }).first().click()
  expect(await page.locator('.tabs figure:visible figcaption').allTextContents()).toEqual([
    'Python',
    'Python',
  ])
  await page.goto(`${server.url}/guide/polling`)
  expect(await page.locator('.tabs figure:visible figcaption').first().textContent()).toBe('Python')
  await page.emulateMedia({ media: 'print' })
  expect(await page.locator('.tabs').first().locator('figure:visible').count()).toBe(3)
  expect(await page.getByRole('navigation').count()).toBe(0)
  await page.close()
})

test('the search finds a section of another chapter', async () => {
  const { page, asked } = await browser.open('/guide/first-booking')
  await page.getByRole('searchbox').fill('mistake lost_response')
  await page.getByRole('link', { name: 'Testing: Which one finds which mistake' }).click()
  await page.waitForURL('**/guide/testing#which-one-finds-which-mistake')
  expect(asked.filter((url) => url.includes('search'))).toEqual([`${server.url}/guide/search.json`])
  await page.close()
})

test('"partnerctl guide" prints the list, and a chapter as it is', async () => {
  const list = await partnerctl(['guide', '--json'], {})
  expect(JSON.parse(list.stdout).map(({ name }: { name: string }) => name)).toEqual(
    chapters.map(({ name }) => name),
  )
  const errors = await partnerctl(['guide', 'errors'], {})
  expect({ code: errors.code, stdout: errors.stdout }).toEqual({
    code: 0,
    stdout: chapters.find(({ name }) => name === 'errors')?.markdown,
  })
  const unknown = await partnerctl(['guide', 'nothing'], {})
  expect({ code: unknown.code, stdout: unknown.stdout }).toEqual({ code: 2, stdout: '' })
})
