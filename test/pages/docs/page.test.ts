import { expect, test } from 'vitest'
import { sharedServices, testApp } from '../../support/app.ts'
import { desktop, docsOf, openBrowser, phone, saveShot, seriousFindings } from '../../support/browser.ts'

const service = await testApp()
const [server] = sharedServices()
const browser = await openBrowser(server.url)

const openPage = docsOf(browser)

// Drawing the page takes seconds of computing, so the tests that only look at it share one.
const { page, complaints } = await openPage()

test('the documentation page is accessible and loads all operations without errors or foreign requests', async () => {
  const { body } = await service.send('GET', '/openapi.json')
  const tags = (body.tags as { name: string }[]).map(({ name }) => name)
  for (const tag of tags)
    expect(await page.getByRole('heading', { name: new RegExp(`^${tag}\\b`) }).count()).toBeGreaterThan(0)
  await page.locator('input[placeholder="Your key"]').first().waitFor()
  expect(await page.locator('input[placeholder^=QUxM]').count()).toBe(0)
  expect(await page.getByText('The page is loading').isVisible()).toBe(false)
  await saveShot(page, 'desktop')
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(desktop.width)
  expect(await seriousFindings(page)).toEqual([])
  expect(complaints).toEqual([])
})

test('an operation shows its fields in the order of the contract, and its samples', async () => {
  await page.goto(`${server.url}/docs#tag/bookings/POST/v1/bookings`)
  const operation = page.locator('[id$="tag/bookings/POST/v1/bookings"]')
  await operation.getByText('create-booking-1').first().waitFor()
  const ids = await operation.locator('[id*="/bookings.body."]').evaluateAll((all) => all.map(({ id }) => id))
  expect(ids.map((id) => id.split('.').at(-1))).toEqual([
    'user_id',
    'listing_id',
    'room_type_id',
    'checkin_at',
    'checkout_at',
    'message',
  ])
  await page.close()
})

test('without a script, and until it is drawn, the page lists and links the operations', async () => {
  const { page } = await browser.open('/docs', phone, false, false)
  await page.getByText('The page is loading').waitFor()
  expect(
    await page.getByRole('listitem').filter({ hasText: 'POST /v1/bookings Create a booking' }).count(),
  ).toBe(1)
  expect(await page.getByRole('link', { name: 'OpenAPI document' }).getAttribute('href')).toBe(
    '/openapi.json',
  )
  await saveShot(page, 'docs-without-script')
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(phone.width)
  await page.close()
})
