import { chromium } from 'playwright-core'
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

/** Opens the page, and collects everything that goes wrong or leaves its origin. */
async function openPage(viewport: { width: number; height: number }) {
  const page = await browser.newPage({ viewport })
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(server.url) && !request.url().startsWith('data:'))
      complaints.push(`foreign: ${request.url()}`)
  })
  await page.goto(`${server.url}/docs`)
  await page.locator('.opblock').first().waitFor()
  return { page, complaints }
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
    'Safe retries',
    'Errors',
    'Rate limits',
  ]) {
    expect(await page.getByRole('heading', { name: guide, exact: true }).count()).toBeGreaterThan(0)
  }
  const { body } = await service.send('GET', '/openapi.json')
  const operations = Object.values(body.paths as Record<string, object>).reduce(
    (sum, item) => sum + Object.keys(item).length,
    0,
  )
  expect(await page.locator('.opblock').count()).toBe(operations)
  if (shots) await page.screenshot({ path: `${shots}/desktop.png` })
  expect(complaints).toEqual([])
  await page.close()
})

test('the documentation page sends a request to the sandbox with an entered key and shows the response', async () => {
  const actor = await service.actor()
  const { page, complaints } = await openPage({ width: 1280, height: 900 })
  await page.getByRole('button', { name: 'Authorize' }).first().click()
  await page.locator('.modal-ux input').first().fill(actor.key)
  await page.locator('.modal-ux button.authorize').first().click()
  await page.locator('.modal-ux button.btn-done').first().click()
  const operation = page.locator('.opblock', { has: page.locator('[data-path="/sandbox/listings"]') }).first()
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  await operation.getByRole('button', { name: 'Execute' }).click()
  const response = operation.locator('.live-responses-table .response').first()
  await response.waitFor()
  expect(await response.locator('.response-col_status').first().textContent()).toContain('200')
  expect(await response.textContent()).toContain('Sandbox House Valencia')
  if (shots) {
    await response.scrollIntoViewIfNeeded()
    await page.screenshot({ path: `${shots}/tried.png` })
  }
  expect(complaints).toEqual([])
  await page.close()
})

test('the documentation page fits the width of a phone', async () => {
  const { page, complaints } = await openPage({ width: 390, height: 844 })
  const width = await page.evaluate('document.documentElement.scrollWidth')
  if (shots) await page.screenshot({ path: `${shots}/phone.png` })
  expect(width).toBeLessThanOrEqual(390)
  expect(complaints).toEqual([])
  await page.close()
})
