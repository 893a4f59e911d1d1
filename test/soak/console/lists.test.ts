import { afterAll, expect, test } from 'vitest'
import { seedBooking, testApp, testEnvironment } from '../../support/app.ts'
import { desktop, openBrowser, saveShot } from '../../support/browser.ts'
import { enterKey, inTime } from '../../support/console.ts'
import { startService } from '../../support/processes.ts'

const environment = { WEBHOOKS_ALLOW_PRIVATE: 'on' }
const service = await testApp(environment)
const server = await startService(testEnvironment(environment))
afterAll(() => server.stop())
const browser = await openBrowser(server.url)
const provider = '/v1/integrations/provider_one'

/** A script of the page: the number of rows of the chart that have the colour of successful requests. */
const heightOfBars = `(() => {
  const canvas = document.querySelector('.chart canvas')
  const colour = getComputedStyle(document.querySelector('.swatch.succeeded')).backgroundColor.match(/\\d+/g).map(Number)
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true })
  copy.drawImage(canvas, 0, 0)
  const { data, width, height } = copy.getImageData(0, 0, canvas.width, canvas.height)
  const rows = new Set()
  for (let index = 0; index < width * height; index += 1) {
    const isBar = colour.every((value, channel) => Math.abs(data[index * 4 + channel] - value) < 3)
    if (isBar && data[index * 4 + 3] === 255) rows.add(Math.floor(index / width))
  }
  return rows.size
})()`

test('the latest changes are shown even if the last page has only a few', async () => {
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const made: number[] = [booking_id]
  for (let count = 0; count < 50; count += 1)
    made.push((await actor.send('POST', '/v1/bookings', { body: stay })).body.data.booking_id)
  const { page } = await browser.open('/console')
  await enterKey(page, actor)
  const changes = page.getByRole('region', { name: 'Latest changes as a table' })
  await changes.getByRole('rowheader', { name: String(made.at(-1)) }).waitFor()
  const panel = page.locator('[aria-labelledby="changes-title"]')
  const shown: string[] = []
  for (let first = 1; first <= 41; first += 10) {
    await panel.getByText(`${first} to ${first + 9} of 50`).waitFor()
    shown.push(...(await changes.getByRole('rowheader').allTextContents()))
    if (first < 41) await panel.getByRole('button', { name: 'Older' }).click()
  }
  expect(await panel.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true)
  expect(shown.map(Number)).toEqual(made.slice(1).reverse())
  await page.getByRole('button', { name: 'Digest of all bookings' }).click()
  const { digest } = (await actor.send('GET', `${provider}/bookings/digest`)).body.data
  await page.getByText(`Bookings: 51, digest ${digest.sha256}, as of ${digest.version}`).waitFor()
  await page.close()
})

test('the requests that succeeded are listed a page at a time, older ones from the service', async () => {
  // Without `bookings.read`, the console sends no requests that would also be listed.
  const actor = await service.actor({ permissions: ['bookings.write', 'listings.read'] })
  await actor.send('POST', '/v1/bookings', { body: {} })
  const send = () => actor.send('GET', '/v1/listings')
  for (let count = 0; count < 12; count += 1) await Promise.all(Array.from({ length: 10 }, send))
  await service.logged()
  const { page, complaints } = await browser.open('/console')
  await enterKey(page, actor)
  const panel = page.locator('[aria-labelledby="log-title"]')
  await panel.getByText('POST /v1/bookings').waitFor()
  // The key allows a million requests a minute, and the few that it sent are still seen.
  await page.locator('.chart canvas').waitFor()
  await expect.poll(() => page.evaluate(heightOfBars)).toBeGreaterThan(100)
  await panel.getByRole('radio', { name: 'Succeeded' }).check()
  for (let first = 1; first <= 91; first += 10) {
    await panel.getByText(`${first} to ${first + 9} of 100 or more`).waitFor()
    expect(await panel.locator('.requests > li').count()).toBe(10)
    await panel.getByRole('button', { name: 'Older' }).click()
  }
  await panel.getByText('101 to 110 of 120').waitFor()
  expect(await panel.getByText('POST /v1/bookings').count()).toBe(0)
  await panel.getByRole('button', { name: 'Newer' }).click()
  await panel.getByText('91 to 100 of 120').waitFor()
  expect(complaints).toEqual([])
  await page.close()
})

test('a panel without content says what to do next, and links to the heading that explains it', async () => {
  const actor = await service.actor()
  const hook = { url: 'http://127.0.0.1:1/hooks', events: ['booking.changed'] }
  const { page, complaints } = await browser.open('/console', desktop, true)
  await enterKey(page, actor)
  await page.getByRole('button', { name: 'Show the webhooks' }).click()
  const hints = [
    'No failed requests on live data. Choose “Succeeded” to see the others.',
    'No consumers. Create one, and the service keeps your place in the feed.',
    'No webhooks. Create one, and signed hints tell your server when to look.',
    'No bookings yet. Make one, or switch to the sandbox, which has some.',
  ]
  for (const hint of hints) await inTime(page, page.getByText(hint))
  await saveShot(page, 'console-empty')
  const links = await page
    .locator('.nothing a[href*="#"]')
    .evaluateAll((found) => found.map((link) => link.getAttribute('href')))
  expect(links).toHaveLength(3)
  for (const link of links) {
    const [path = '', heading] = (link ?? '').split('#')
    const { status, text } = await service.send('GET', path)
    expect({ link, status }).toEqual({ link, status: 200 })
    expect(text, `${link}`).toContain(`<h2 id="${heading}">`)
  }
  await page.getByLabel('Request id').fill('unknown')
  await page.getByRole('button', { name: 'Find' }).click()
  await inTime(page, page.getByText('Copy the whole id from the response’s X-Request-Id'))
  expect((await actor.send('POST', '/sandbox/webhooks', { body: hook })).status).toBe(201)
  await page.getByLabel('Sandbox').check()
  await inTime(page, page.getByText('None yet. When your product works in the sandbox, certify it.'))
  await page.getByRole('button', { name: 'Show the webhooks' }).click()
  const hooked = page.locator('details', { hasText: '/hooks' }).locator('summary')
  await inTime(page, hooked)
  await hooked.click()
  await inTime(page, page.getByText(/Nothing has been sent yet\. .+ POST \/sandbox\/webhooks\/\d+\/test/))
  expect(complaints).toEqual([])
  await page.close()
})
