import { afterAll, expect, test } from 'vitest'
import { testApp, testEnvironment } from '../../support/app.ts'
import { desktop, expectAccessible, openBrowser, phone, saveShot } from '../../support/browser.ts'
import { storeCertification } from '../../support/certification.ts'
import { busyPartner, enterKey, inTime } from '../../support/console.ts'
import { startService } from '../../support/processes.ts'

const environment = { WEBHOOKS_ALLOW_PRIVATE: 'on' }
const service = await testApp(environment)
const server = await startService(testEnvironment(environment))
afterAll(() => server.stop())
const browser = await openBrowser(server.url)
const provider = '/v1/integrations/provider_one'

test('a partner enters a key and finds out why a booking was refused', async () => {
  const { actor, requestId } = await busyPartner(service, 1_000_000)
  const { page, complaints, asked } = await browser.open('/console')
  await saveShot(page, 'console-entry')
  await enterKey(page, actor)
  await page
    .getByRole('cell', { name: 'nightly-sync' })
    .or(page.getByRole('rowheader', { name: 'nightly-sync' }))
    .waitFor()
  const failed = page.locator('details', { hasText: 'POST /v1/bookings' })
  await failed.locator('summary').click()
  await failed.getByText('"checkin_at" must be a real calendar date written YYYY-MM-DD').waitFor()
  expect(await failed.getByRole('link').first().getAttribute('href')).toBe('/guide/errors#validation_error')
  await page.getByLabel('Request id').fill(requestId)
  await page.getByRole('button', { name: 'Find' }).click()
  await page.locator('search details', { hasText: 'POST /v1/bookings' }).waitFor()
  await page.locator('.chart canvas').waitFor()
  const zone = await page.evaluate('new Intl.DateTimeFormat().resolvedOptions().timeZone')
  await page.getByText(`Times in ${zone}`).waitFor()
  await saveShot(page, 'console-walk')
  expect(complaints).toEqual([])
  expect(asked.filter((url) => url.includes(actor.key))).toEqual([])
  const opened = page.context().waitForEvent('page')
  await failed.getByRole('link').first().click()
  const guide = await opened
  await guide.waitForURL('**/guide/errors#validation_error')
  const heading = guide.getByRole('heading', { name: 'validation_error' }).first()
  await expect.poll(async () => (await heading.boundingBox())?.y).toBeLessThan(800)
  expect(await guide.evaluate('sessionStorage.length')).toBe(0)
  await page.close()
})

test('a partner sees what was sent to a webhook and how the delivery ended', async () => {
  const { actor } = await busyPartner(service)
  const sent = actor.db.collection('webhook_deliveries')
  const { _id, ...test } = (await sent.findOne({ owner_id: actor.hostId })) ?? {}
  const answer = { response_status: null, milliseconds: null, error: null, error_detail: null }
  await sent.insertOne({ ...test, ...answer, event: 'booking.changed', status: 'delivered' })
  const { page, complaints } = await browser.open('/console')
  await enterKey(page, actor)
  await page.getByRole('button', { name: 'Show the webhooks' }).click()
  await page.locator('details', { hasText: '/hooks/of/our/property/system' }).locator('summary').click()
  const deliveries = page.getByRole('region', { name: 'Deliveries as a table' })
  await deliveries.getByRole('cell', { name: 'webhook.test' }).waitFor()
  expect(await deliveries.getByRole('row').last().textContent()).toMatch(/failed.*refused after \d+ ms/)
  expect(await deliveries.getByRole('row').nth(1).textContent()).toMatch(
    /delivered.*withheld by a sandbox fault/,
  )
  await page.setViewportSize(phone)
  const cut = `[...document.querySelectorAll('.scrolls')].filter((box) => box.scrollWidth > box.clientWidth).length`
  expect(await page.evaluate(cut)).toBe(0)
  await saveShot(page, 'console-webhooks')
  expect(complaints).toEqual([])
  await page.close()
})

test("responses to the console contain none of a partner's secrets", async () => {
  const { actor } = await busyPartner(service)
  const canary = () => `canary-${crypto.randomUUID().slice(0, 13)}`
  const planted = Array.from({ length: 6 }, canary) as [string, string, string, string, string, string]
  const [name, password, message, query, header, key] = planted
  await actor.send('POST', '/v1/users', { body: { first_name: name, password, email: name } })
  await actor.send('POST', '/v1/bookings', { body: { message }, headers: { 'idempotency-key': header } })
  await actor.send('GET', `/v1/listings?q=${query}&sort=${query}`)
  await actor.send('POST', `${provider}/provider-key`, { body: { provider_api_key: [key] } })
  await service.logged()
  const { page } = await browser.open('/console')
  const received: Promise<string>[] = []
  page.on('response', (response) => received.push(response.text().catch(() => '')))
  await enterKey(page, actor)
  await page.getByText('POST /v1/users').waitFor()
  const texts = (await Promise.all(received)).join('\n')
  expect(texts).toContain('/v1/integrations/provider_one/provider-key')
  expect([...planted, actor.key].filter((secret) => texts.includes(secret))).toEqual([])
  await page.close()
})

test('the console explains a wrong key, a key without permissions and an unreachable service', async () => {
  const { page } = await browser.open('/console')
  await page.getByLabel('API key').fill('not a key')
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByText('This is not an API key').waitFor()
  await page.getByLabel('API key').fill(`${'pis_'}${'x'.repeat(38)}`)
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByText('API key is invalid').waitFor()
  const poor = await service.actor({ permissions: [] })
  await page.getByLabel('API key').fill(poor.key)
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByText('This key may not read bookings').first().waitFor()
  await page.getByText('Ask an administrator to add it').first().waitFor()
  await page
    .getByText('No requests in the last hour. Your first booking shows how to send some.')
    .or(page.locator('.chart'))
    .first()
    .waitFor()
  await saveShot(page, 'console-poor')
  await page.context().setOffline(true)
  await page.getByLabel('Request id').fill('x')
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByText('The service cannot be reached').first().waitFor()
  await page.close()
})

test('the console allows nothing inline, and its files are cached by content', async () => {
  for (const path of ['/console', '/console/console.js', '/console/console.css', '/console/chart.css']) {
    const response = await service.send('GET', path)
    expect(response.status).toBe(200)
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain("style-src 'self';")
    expect(policy).not.toContain('unsafe')
    const etag = response.headers.get('etag') as string
    const again = await service.app.handle(
      new Request(`http://localhost${path}`, { headers: { 'if-none-match': etag } }),
    )
    expect(again.status).toBe(304)
  }
  expect((await service.send('GET', '/console/main.tsx')).status).toBe(404)
})

test('a partner plays a scenario and a fault, moves the clock, and sees which request met the fault', async () => {
  const { actor } = await busyPartner(service)
  const { page, complaints } = await browser.open('/console', desktop, true)
  await enterKey(page, actor)
  await page.getByLabel('Sandbox').check()
  await page.clock.runFor(60_000)
  await inTime(page, page.getByLabel('Scenario'))
  await page.getByLabel('Scenario').selectOption('guest-books')
  await page.getByRole('button', { name: 'Play' }).click()
  await inTime(page, page.getByText(/Played guest-books: \d+ pending/))
  await page.getByLabel('Fault').selectOption('slow')
  await page.getByLabel('Operation').fill('listListings')
  await page.getByRole('button', { name: 'Set', exact: true }).click()
  await inTime(page, page.getByText('slow of listListings: 1 left'))
  const feed = '/sandbox/integrations/provider_one/bookings'
  expect((await actor.send('GET', feed)).headers.has('sandbox-fault')).toBe(false)
  expect((await actor.send('GET', '/sandbox/listings')).headers.get('sandbox-fault')).toBe('slow')
  await service.logged()
  await page.getByLabel('Clock').selectOption('90000')
  await page.getByRole('button', { name: 'Advance' }).click()
  await inTime(page, page.getByText('The sandbox time is now'))
  expect((await actor.send('GET', '/sandbox/clock')).body.data.advanced_seconds).toBe(90_000)
  await page.getByRole('button', { name: 'Show requests that met a fault' }).click()
  const met = page.locator('[aria-labelledby="sandbox-title"] details', { hasText: 'GET /sandbox/listings' })
  await inTime(page, met)
  await met.locator('summary').click()
  await inTime(page, met.getByText('slow, played by the sandbox'))
  await saveShot(page, 'console-sandbox')
  expect(complaints).toEqual([])
  await page.close()
})

test('a certification is shown with its cases, and the console reads no feed while one runs', async () => {
  const { actor } = await busyPartner(service)
  const passed = await storeCertification(actor.db, actor, 'passed')
  const { page, complaints } = await browser.open('/console', desktop, true)
  await enterKey(page, actor)
  await page.getByLabel('Sandbox').check()
  const panel = page.locator('[aria-labelledby="certification-title"]')
  await inTime(page, panel.getByText(`Certification ${passed} (feed): passed`))
  await inTime(page, panel.getByText('feed.restart'))
  expect(await panel.textContent()).not.toContain('`')
  expect(await panel.locator('li code', { hasText: 'Retry-After' }).count()).toBeGreaterThan(0)
  const running = await storeCertification(actor.db, actor, 'asked')
  const feed: string[] = []
  page.on('request', (request) => request.url().includes('/provider_one/') && feed.push(request.url()))
  await page.clock.runFor(310_000)
  await inTime(page, panel.getByText(`Certification ${running} (feed): running`))
  await inTime(page, panel.getByText('Next: upload_state'))
  await inTime(page, page.getByText('While a certification runs, the page does not read the feed'))
  feed.length = 0
  await page.clock.runFor(120_000)
  expect(feed.filter((url) => !url.includes('/consumers'))).toEqual([])
  await saveShot(page, 'console-certification')
  expect(complaints).toEqual([])
  await page.close()
})

test("while a certification runs, a line names the product's last request and the expected ones", async () => {
  const actor = await service.actor()
  const { body } = await actor.send('POST', '/sandbox/certifications', { body: { profiles: ['feed'] } })
  await actor.send('GET', '/sandbox/integrations/provider_one/bookings?per_page=100')
  const missing = async () => {
    const read = await actor.send('GET', `/sandbox/certifications/${body.data.id}`)
    return read.body.data.progress?.missing_count
  }
  // The page's clock stands still, so the page reads the certification only once.
  await expect.poll(missing, { interval: 1000 }).toBeGreaterThan(0)
  const { page, complaints } = await browser.open('/console', desktop, true)
  await enterKey(page, actor)
  await page.getByLabel('Sandbox').check()
  const line = page.getByText(/^Reading continued .+; waiting for bookings \d+(, \d+){4} and \d+ more\.$/)
  await inTime(page, line)
  await expectAccessible(page, 'console-running')
  expect(complaints).toEqual([])
  await page.close()
})
