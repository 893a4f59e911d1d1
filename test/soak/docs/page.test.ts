import { expect, test } from 'vitest'
import { readChapters } from '../../../src/pages/guide/chapters.ts'
import { sharedServices, testApp } from '../../support/app.ts'
import {
  docsOf,
  expectAccessible,
  openBrowser,
  phone,
  saveShot,
  seriousFindings,
} from '../../support/browser.ts'

const service = await testApp()
const [server] = sharedServices()
const browser = await openBrowser(server.url)

const openPage = docsOf(browser)

test('the documentation page sends a request to the sandbox with an entered key and shows the response', async () => {
  const actor = await service.actor()
  const { page, complaints } = await openPage()
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

test('the documentation page is accessible and fits on a phone in dark mode', async () => {
  const { page, complaints } = await openPage(phone)
  await saveShot(page, 'phone')
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(phone.width)
  expect(await seriousFindings(page)).toEqual([])
  await page.goto(`${server.url}/docs#tag/bookings/POST/v1/bookings`)
  await page.getByRole('heading', { name: 'Create a booking', exact: true }).first().waitFor()
  await saveShot(page, 'phone-operation')
  expect(complaints).toEqual([])
  await page.close()
})

test('the changelog page is accessible and states what may change without notice', async () => {
  const { page, complaints } = await openPage(phone, '/docs/changelog')
  expect(await page.getByRole('heading', { name: 'What may change' }).count()).toBe(1)
  expect(await seriousFindings(page)).toEqual([])
  expect(complaints).toEqual([])
  await page.close()
})

test('every chapter of the guide is accessible and fits, on a desktop and a phone, light and dark', async () => {
  const { page, complaints } = await browser.open('/guide')
  for (const { name } of readChapters()) {
    await page.goto(`${server.url}/guide/${name}`)
    await expectAccessible(page, `/guide/${name}`)
  }
  expect(complaints).toEqual([])
  await page.close()
})

test('the old anchors of the guide lead to its chapters', async () => {
  const { page } = await browser.open('/docs#description/errors')
  await page.waitForURL(`${server.url}/guide/errors`)
  await page.goto(`${server.url}/docs#description/a-poller-without-a-disk`)
  await page.waitForURL(`${server.url}/guide/polling#a-poller-without-a-disk`)
  await page.close()
})
