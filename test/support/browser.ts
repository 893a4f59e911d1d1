import axe, { type AxeResults } from 'axe-core'
import { chromium, type Page } from 'playwright-core'
import { afterAll, expect } from 'vitest'
import { isSoak } from './soak.ts'

/** Folder for screenshots; undefined if none are taken. */
const shots = process.env.SCREENSHOTS

/** Chromium without a window, which takes half of the computing; or the ordinary one, if a machine has only that. */
const executablePath = Bun.which('chromium-headless-shell') ?? '/usr/bin/chromium'

/** The window size and colour scheme of a page. */
export const appearances = [
  { width: 1280, height: 900, scheme: 'light' },
  { width: 390, height: 844, scheme: 'dark' },
] as const
export type Appearance = Pick<(typeof appearances)[number], 'scheme'> & { width: number; height: number }
export const desktop: Appearance = appearances[0]
export const phone: Appearance = appearances[1]

/**
 * Opens a real browser, which is closed after the file's tests.
 *
 * @param origin the only origin that pages may request
 */
export async function openBrowser(origin: string) {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ]
  const browser = await chromium.launch({ executablePath, args })
  afterAll(() => browser.close())
  return {
    /**
     * Opens a page and records its errors and warnings, its requests and the requests that leave its origin.
     *
     * @param movesClock true if the test moves `page.clock`
     * @param javaScriptEnabled true if the page's scripts run
     */
    async open(
      path: string,
      { width, height, scheme }: Appearance = desktop,
      movesClock = false,
      javaScriptEnabled = true,
    ) {
      const viewport = { width, height }
      const context = await browser.newContext({
        viewport,
        colorScheme: scheme,
        bypassCSP: false,
        javaScriptEnabled,
      })
      // By default, Playwright gives up after 30 s, but a busy machine may need longer.
      context.setDefaultTimeout(4 * 60_000)
      const page = await context.newPage()
      if (movesClock) await page.clock.install()
      const complaints: string[] = []
      const asked: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
      })
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('request', (request) => {
        const isLocal = /^(data|blob):/.test(request.url())
        if (!request.url().startsWith(origin) && !isLocal) complaints.push(`foreign: ${request.url()}`)
        asked.push(request.url())
      })
      await page.goto(origin + path)
      return { page, complaints, asked }
    },
  }
}

/** Returns the serious and critical violations that axe finds, by rule. */
export async function seriousFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source)
  // This rule of WCAG 2.2 is off by default.
  const options = { rules: { 'target-size': { enabled: true } } }
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as AxeResults
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
}

const widths = [phone.width, desktop.width]
const schemes = ['dark', 'light'] as const

/**
 * Expects a page to be accessible and to fit the window: in the soak on phone and desktop, in dark and light, and in
 * `bin/test` only on a phone in dark, where a page has the least room.
 */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  for (const width of isSoak ? widths : widths.slice(0, 1))
    for (const colorScheme of isSoak ? schemes : schemes.slice(0, 1)) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await saveShot(page, `${name.replaceAll('/', '-')}-${width}-${colorScheme}`)
      // The layout of a resized page takes some time.
      const scrollWidth = () => page.evaluate('document.documentElement.scrollWidth')
      await expect.poll(scrollWidth, { message: `${name} ${width}` }).toBeLessThanOrEqual(width)
      expect(await seriousFindings(page), `${name} ${width} ${colorScheme}`).toEqual([])
    }
}

export async function saveShot(page: Page, name: string): Promise<void> {
  if (shots) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true })
}

/** Returns a function that opens a page of the documentation and waits until it is rendered. */
export const docsOf =
  (browser: Awaited<ReturnType<typeof openBrowser>>) =>
  async (appearance?: Appearance, path = '/docs') => {
    const opened = await browser.open(path, appearance)
    await opened.page.getByRole('heading', { level: 2 }).first().waitFor()
    return opened
  }
