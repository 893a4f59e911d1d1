import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type Actor, seedBooking, sharedServices, testApp } from '../../support/app.ts'
import { desktop, expectAccessible, openBrowser, saveShot } from '../../support/browser.ts'
import { enterKey, inTime } from '../../support/console.ts'
import { isSoak } from '../../support/soak.ts'

const service = await testApp()
const [server] = sharedServices()
const browser = await openBrowser(server.url)
const feed = '/integrations/provider_one/bookings'

const panelOf = (page: Page) => page.locator('.columns .panel').first()

/** Checks the page in all appearances in the soak; otherwise, only saves a screenshot if asked. */
const look = (page: Page, name: string) =>
  isSoak || process.env.SCREENSHOTS ? expectAccessible(page, name) : saveShot(page, name)

/** Reads a feed through the other service, which writes the position within two seconds. */
async function readFeed({ key, send }: Actor, root: '/v1' | '/sandbox'): Promise<void> {
  await fetch(`${server.url}${root}${feed}`, { headers: { 'x-api-key': key } })
  const unread = async () => (await send('GET', `${root}/health`)).body.data.feeds.bookings.unread
  await expect.poll(unread).toBe(0)
}

test('the first panel says that nothing is wrong, how far the feeds were read, and how requests ended', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  await readFeed(actor, '/v1')
  const { page, complaints } = await browser.open('/console')
  await enterKey(page, actor)
  const panel = panelOf(page)
  await panel
    .getByText(
      'Nothing is wrong. The key has read every booking change, so if nothing arrives, nothing has happened.',
    )
    .waitFor()
  expect(await panel.getByRole('heading').textContent()).toBe('Quiet or broken?')
  const { newest_version } = (await actor.send('GET', '/v1/health')).body.data.feeds.bookings
  const [bookings, messages] = await panel.locator('tbody tr').allTextContents()
  expect(bookings).toMatch(new RegExp(`^bookings0none.+${newest_version}${newest_version}$`))
  expect(messages).toMatch(/^messagesnot read yetnonenevernothing yet/)
  expect(await panel.locator('.legend').textContent()).toMatch(/Succeeded \(2xx, 3xx\): \d+Refused/)
  await look(page, 'health-ok')
  expect(complaints).toEqual([])
  await page.close()
})

test('findings are listed worst first, each with a link to its section of the guide', async () => {
  const actor = await service.actor()
  const hook = { url: 'https://hooks.example.com/in', events: ['message.created'] }
  const { body } = await actor.send('POST', '/v1/webhooks', { body: hook })
  const webhooks = actor.db.collection('webhooks')
  const off = { enabled: false, disabled_reason: 'failing', disabled_at: new Date(Date.now() - 3_600_000) }
  await webhooks.updateOne({ owner_id: actor.hostId, id: body.data.id }, { $set: off })
  for (let count = 0; count < 20; count += 1) await actor.send('GET', '/v1/users/999999999')
  await service.logged()
  const { page, complaints } = await browser.open('/console')
  await enterKey(page, actor)
  const panel = panelOf(page)
  await panel.getByText('Something is broken and needs somebody now.').waitFor()
  const findings = panel.locator('.findings li')
  expect(await findings.locator('code').allTextContents()).toEqual(['webhook_off', 'requests_refused'])
  expect(await findings.first().textContent()).toMatch(
    /^failing webhook_off since 1 hour agoWebhook \d+ was turned off/,
  )
  await look(page, 'health-failing')
  const opened = page.context().waitForEvent('page')
  await panel.getByRole('link', { name: 'What to do about webhook_off' }).click()
  const guide = await opened
  await guide.waitForURL('**/guide/quiet-or-broken#webhook_off')
  await guide.getByRole('heading', { name: 'webhook_off' }).waitFor()
  expect(complaints).toEqual([])
  await webhooks.updateOne(
    { owner_id: actor.hostId, id: body.data.id },
    { $set: { disabled_reason: 'partner' } },
  )
  await page.reload()
  await panel.getByText('Something needs attention soon.').waitFor()
  expect(await findings.locator('code').allTextContents()).toEqual(['requests_refused'])
  await look(page, 'health-warning')
  await page.close()
})

test('in the sandbox, the panel shows the findings there, by the clock of the sandbox', async () => {
  const actor = await service.actor()
  await readFeed(actor, '/sandbox')
  await actor.send('POST', '/sandbox/scenarios/guest-books', { body: {} })
  await actor.send('POST', '/sandbox/clock', { body: { advance_seconds: 31 * 60 } })
  const { page, complaints } = await browser.open('/console', desktop, true)
  await enterKey(page, actor)
  const panel = panelOf(page)
  await inTime(page, panel.getByText('Nothing is wrong'))
  await page.getByLabel('Sandbox').check()
  await inTime(page, panel.getByText(/feed_unread since \d/))
  await inTime(page, panel.getByText('This key has not read the booking feed for more than 30 minutes'))
  await look(page, 'health-sandbox')
  expect(complaints).toEqual([])
  await page.close()
})

test('the panel explains a missing permission, waits for a slow response, and offers to try again after an error', async () => {
  const poor = await service.actor({ permissions: [] })
  const { page } = await browser.open('/console')
  const held = Promise.withResolvers<void>()
  await page.route('**/v1/health', async (route) => {
    await held.promise
    await route.fulfill({ status: 500, json: { error: { message: 'Internal error', request_id: 'abc' } } })
  })
  await enterKey(page, poor)
  const panel = panelOf(page)
  await panel.getByText('Loading…').waitFor()
  await look(page, 'health-loading')
  held.resolve()
  await panel.getByText('Internal error (500). Request id: abc').waitFor()
  await look(page, 'health-error')
  await page.unroute('**/v1/health')
  await panel.getByRole('button', { name: 'Try again' }).click()
  await panel
    .getByText('The feeds are not shown, because the key lacks the permission bookings.read.')
    .waitFor()
  await look(page, 'health-no-permission')
  await page.close()
})
