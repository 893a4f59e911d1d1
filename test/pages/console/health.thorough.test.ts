import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { adminJson } from '../../support/admin.ts'
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

/** Reads a feed, and writes the position at once, which a service would write within two seconds. */
async function readFeed({ send }: Actor, environment: 'live' | 'sandbox'): Promise<void> {
  await send('GET', `/${environment === 'live' ? 'v1' : 'sandbox'}${feed}`)
  await service[environment].activity.flush()
}

test('the first panel says that nothing is wrong, how far the feeds were read, and how requests ended', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  await readFeed(actor, 'live')
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
  await readFeed(actor, 'sandbox')
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

test('the first 401 stops the page: one message, no panel, no request, and room for another key', async () => {
  const actor = await service.actor()
  const { page, asked } = await browser.open('/console', desktop, true)
  await enterKey(page, actor)
  const panel = panelOf(page)
  await inTime(page, panel.getByText('Nothing is wrong.'))
  // The command announces the change, which a service would notice only after five seconds otherwise.
  await adminJson('keys', 'revoke', String(actor.keyId), '--yes')
  const refused = page.getByRole('alert')
  await inTime(page, refused)
  expect(await refused.allTextContents()).toEqual([
    expect.stringMatching(
      /^The service no longer accepts the key: .+The page has stopped; enter another key$/,
    ),
  ])
  expect(await page.locator('.panel').count()).toBe(0)
  expect(await page.locator('body').textContent()).not.toContain('Nothing is wrong')
  expect(await page.evaluate('sessionStorage.length')).toBe(0)
  const sent = asked.length
  for (let count = 0; count < 10; count += 1) await page.clock.runFor(30_000)
  const other = await service.actor()
  await enterKey(page, other)
  // The form's own request is the first one since the refusal.
  const [first] = asked.slice(sent)
  expect(first).toBe(`${server.url}/v1/key`)
  expect(await page.getByRole('alert').count()).toBe(0)
  await page.close()
})

test('without a fresh answer the page does not say that all is well, until the service answers again', async () => {
  const actor = await service.actor()
  const { page } = await browser.open('/console', desktop, true)
  await enterKey(page, actor)
  const panel = panelOf(page)
  const well = panel.getByText('Nothing is wrong.')
  await inTime(page, well)
  await page.context().setOffline(true)
  await inTime(page, panel.getByText('It is not known how the integration is'))
  expect(await well.count()).toBe(0)
  expect(await panel.locator('.badge').count()).toBe(0)
  await page.context().setOffline(false)
  await inTime(page, well)
  // A page that was hidden for hours shows nothing old when it is looked at again.
  const setHidden = (isHidden: boolean) =>
    page.evaluate(`
      Object.defineProperty(document, 'hidden', { get: () => ${isHidden}, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))`)
  await setHidden(true)
  await page.clock.fastForward(10 * 60_000)
  expect(await well.count()).toBe(0)
  await setHidden(false)
  await inTime(page, well)
  await page.close()
})

test('all tabs of a browser together send at most ten requests in a minute', async () => {
  const actor = await service.actor()
  const { page, asked } = await browser.open('/console')
  const tab = await page.context().newPage()
  const sent = [] as string[]
  const isRequest = (url: string) => /\/(v1|sandbox)\//.test(url)
  tab.on('request', (request) => sent.push(request.url()))
  await tab.goto(`${server.url}/console`)
  // Time stands still in both tabs, while their timers run.
  const begin = Date.now()
  const setTime = (at: number) => Promise.all([page.clock.setFixedTime(at), tab.clock.setFixedTime(at)])
  await setTime(begin)
  const total = () => [...asked, ...sent].filter(isRequest).length
  await enterKey(page, actor)
  await enterKey(tab, actor)
  await expect.poll(total).toBeGreaterThanOrEqual(9)
  for (const one of [tab, page, tab, page])
    for (const name of ['Sandbox', 'Live']) await one.getByRole('radio', { name }).check()
  await expect.poll(total).toBe(10)
  await setTime(begin + 59_000)
  await tab.getByRole('radio', { name: 'Sandbox' }).check()
  await Promise.all([page.waitForTimeout(1500), tab.waitForTimeout(1500)])
  expect(total()).toBe(10)
  await setTime(begin + 61_000)
  await expect.poll(total).toBeGreaterThan(10)
  await page.close()
  await tab.close()
})
