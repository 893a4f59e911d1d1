import axe, { type AxeResults } from 'axe-core'
import { chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApp, testEnvironment } from '../support/app.ts'
import { type ServiceProcess, startService } from '../support/processes.ts'

const service = await testApp()
let server: ServiceProcess
let browser: Awaited<ReturnType<typeof chromium.launch>>

beforeAll(async () => {
  server = await startService(testEnvironment())
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ]
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args })
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

/** Opens a page and collects everything that goes wrong or leaves its origin. */
async function openPage(
  viewport: { width: number; height: number },
  colorScheme: 'light' | 'dark' = 'light',
  path = '/docs',
) {
  const page = await browser.newPage({ viewport, colorScheme, bypassCSP: false })
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    const isLocal = /^(data|blob):/.test(request.url())
    if (!request.url().startsWith(server.url) && !isLocal) complaints.push(`foreign: ${request.url()}`)
  })
  await page.goto(server.url + path)
  await page.getByRole('heading', { level: 2 }).first().waitFor()
  return { page, complaints }
}

/** What axe finds that is serious or critical, by rule. */
async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = (await page.evaluate('axe.run()')) as AxeResults
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
}

async function saveShot(page: Page, name: string): Promise<void> {
  if (shots) await page.screenshot({ path: `${shots}/${name}.png` })
}

/** Where screenshots are saved, if at all. */
const shots = process.env.SCREENSHOTS

test('the documentation page loads without an error or a foreign request, with all guides and operations', async () => {
  const { page, complaints } = await openPage({ width: 1280, height: 900 })
  for (const guide of [
    'First request',
    'Authentication',
    'Sandbox',
    'Pagination',
    'Polling without loss',
    'Changes as they happen',
    'Safe retries',
    'Errors',
    'Rate limits',
  ]) {
    expect(await page.getByRole('heading', { name: guide, exact: true }).count()).toBeGreaterThan(0)
  }
  const { body } = await service.send('GET', '/openapi.json')
  const tags = (body.tags as { name: string }[]).map(({ name }) => name)
  for (const tag of tags)
    expect(await page.getByRole('heading', { name: new RegExp(`^${tag}\\b`) }).count()).toBeGreaterThan(0)
  await saveShot(page, 'desktop')
  expect(complaints).toEqual([])
  await page.close()
})

test('the documentation page sends a request to the sandbox with an entered key and shows the response', async () => {
  const actor = await service.actor()
  const { page, complaints } = await openPage({ width: 1280, height: 900 })
  await page.locator('input[id^="scalar-refs"]').first().fill(actor.key)
  await page.goto(`${server.url}/docs#tag/sandbox/GET/sandbox/listings`)
  await page.locator('button', { hasText: '(get /sandbox/listings)' }).first().click()
  await page.locator('button', { hasText: 'Send Request' }).click()
  const shown = page.getByText('Sandbox House Valencia').last()
  await shown.waitFor()
  await saveShot(page, 'tried')
  expect(await page.getByText('200 OK').count()).toBeGreaterThan(0)
  expect(complaints).toEqual([])
  await page.close()
})

const appearances = [
  { width: 1280, height: 900, scheme: 'light' },
  { width: 1280, height: 900, scheme: 'dark' },
  { width: 390, height: 844, scheme: 'light' },
  { width: 390, height: 844, scheme: 'dark' },
] as const

test.each(appearances)(
  'the documentation page is accessible and fits at $width pixels, $scheme',
  async ({ width, height, scheme }) => {
    const { page, complaints } = await openPage({ width, height }, scheme)
    await saveShot(page, `first-${width}-${scheme}`)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    expect(await seriousFindings(page)).toEqual([])
    await page.goto(`${server.url}/docs#tag/bookings/POST/v1/bookings`)
    await page.getByRole('heading', { name: 'Create a booking', exact: true }).first().waitFor()
    await saveShot(page, `operation-${width}-${scheme}`)
    expect(complaints).toEqual([])
    await page.close()
  },
)

test('the changelog page is accessible and says what may change without notice', async () => {
  const { page, complaints } = await openPage({ width: 390, height: 844 }, 'light', '/docs/changelog')
  expect(await page.getByRole('heading', { name: 'What may change' }).count()).toBe(1)
  expect(await seriousFindings(page)).toEqual([])
  expect(complaints).toEqual([])
  await page.close()
})
