import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { type Actor, seedBooking, testApp, testEnvironment } from '../support/app.ts'
import { appearances, desktop, openBrowser, saveShot, seriousFindings } from '../support/browser.ts'
import { startService } from '../support/processes.ts'

const environment = { WEBHOOKS_ALLOW_PRIVATE: 'on' }
const service = await testApp(environment)
const server = await startService(testEnvironment(environment))
afterAll(() => server.stop())
const browser = await openBrowser(server.url)
const provider = '/v1/integrations/provider_one'

/** A partner with bookings, a consumer that is behind, and requests that failed. */
async function busyPartner() {
  const actor = await service.actor({ rateLimit: 60 })
  const own = await seedBooking(actor)
  await actor.send('PUT', `${provider}/bookings/consumers/nightly-sync`, { body: { acknowledged: null } })
  const hooks = { url: 'http://127.0.0.1:1/hooks/of/our/property/system', events: ['message.created'] }
  const { body: hooked } = await actor.send('POST', '/v1/webhooks', { body: hooks })
  await actor.send('POST', `/v1/webhooks/${hooked.data.id}/test`)
  for (let count = 0; count < 10; count += 1) await actor.send('GET', '/v1/me')
  await actor.send('GET', '/sandbox/listings/1')
  const refused = await actor.send('POST', '/v1/bookings', {
    body: { ...own, checkin_at: '2031-02-30', checkout_at: 'never' },
  })
  // A response is logged after it was sent.
  await Bun.sleep(20)
  await service.live.journal.flush()
  const stay = { ...own, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const book = () => actor.send('POST', '/v1/bookings', { body: stay })
  return { actor, book, requestId: refused.headers.get('x-request-id') as string }
}

async function enter(page: Page, { key }: Pick<Actor, 'key'>): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Latest changes' }).waitFor()
}

test('a partner enters a key and finds out why a booking was refused', async () => {
  const { actor, requestId } = await busyPartner()
  const { page, complaints, asked } = await browser.open('/console')
  await saveShot(page, 'console-entry')
  await enter(page, actor)
  await page
    .getByRole('cell', { name: 'nightly-sync' })
    .or(page.getByRole('rowheader', { name: 'nightly-sync' }))
    .waitFor()
  const failed = page.locator('details', { hasText: 'POST /v1/bookings' })
  await failed.locator('summary').click()
  await failed.getByText('"checkin_at" must be a real calendar date written YYYY-MM-DD').waitFor()
  expect(await failed.getByRole('link').first().getAttribute('href')).toBe('/docs#description/errors')
  await page.getByLabel('Request id').fill(requestId)
  await page.getByRole('button', { name: 'Find' }).click()
  await page.locator('search details', { hasText: 'POST /v1/bookings' }).waitFor()
  await page.locator('.chart canvas').waitFor()
  await saveShot(page, 'console-walk')
  expect(complaints).toEqual([])
  expect(asked.filter((url) => url.includes(actor.key))).toEqual([])
  const opened = page.context().waitForEvent('page')
  await failed.getByRole('link').first().click()
  const guide = await opened
  await guide.waitForURL('**/docs#description/errors')
  const heading = guide.getByRole('heading', { name: 'Errors', exact: true }).first()
  await expect.poll(async () => (await heading.boundingBox())?.y, { timeout: 10_000 }).toBeLessThan(800)
  expect(await guide.evaluate('sessionStorage.length')).toBe(0)
  await page.close()
})

test('a partner sees what was sent to a webhook, and what became of it', async () => {
  const { actor } = await busyPartner()
  const { page, complaints } = await browser.open('/console')
  await enter(page, actor)
  await page.getByRole('button', { name: 'Show the webhooks' }).click()
  await page.locator('details', { hasText: '/hooks/of/our/property/system' }).locator('summary').click()
  const deliveries = page.getByRole('region', { name: 'Deliveries as a table' })
  await deliveries.getByRole('cell', { name: 'webhook.test' }).waitFor()
  expect(await deliveries.getByRole('row').last().textContent()).toMatch(/failed.*connection after \d+ ms/)
  await saveShot(page, 'console-webhooks')
  expect(complaints).toEqual([])
  await page.close()
})

test('what the console is sent has nothing of what a partner must keep secret', async () => {
  const { actor } = await busyPartner()
  const canary = () => `canary-${crypto.randomUUID().slice(0, 13)}`
  const planted = Array.from({ length: 6 }, canary) as [string, string, string, string, string, string]
  const [name, password, message, query, header, key] = planted
  await actor.send('POST', '/v1/users', { body: { first_name: name, password, email: name } })
  await actor.send('POST', '/v1/bookings', { body: { message }, headers: { 'idempotency-key': header } })
  await actor.send('GET', `/v1/listings?q=${query}&sort=${query}`)
  await actor.send('POST', `${provider}/provider-key`, { body: { provider_api_key: [key] } })
  await Bun.sleep(20)
  await service.live.journal.flush()
  const { page } = await browser.open('/console')
  const received: Promise<string>[] = []
  page.on('response', (response) => received.push(response.text().catch(() => '')))
  await enter(page, actor)
  await page.getByText('POST /v1/users').waitFor()
  const texts = (await Promise.all(received)).join('\n')
  expect(texts).toContain('/v1/integrations/provider_one/provider-key')
  expect([...planted, actor.key].filter((secret) => texts.includes(secret))).toEqual([])
  await page.close()
})

test('a request is found by its id within two seconds of its response', async () => {
  const { actor } = await busyPartner()
  const { page } = await browser.open('/console')
  await enter(page, actor)
  const refused = await fetch(`${server.url}/v1/users`, {
    method: 'POST',
    headers: { 'x-api-key': actor.key },
    body: '{}',
  })
  const start = performance.now()
  await page.getByLabel('Request id').fill(refused.headers.get('x-request-id') as string)
  await page.getByRole('button', { name: 'Find' }).click()
  await page.locator('search details', { hasText: '"email" is required' }).waitFor()
  expect(performance.now() - start).toBeLessThan(3000)
  await page.close()
})

test('changes arrive by themselves, in the environment that is chosen', async () => {
  const { actor, book } = await busyPartner()
  const { page, complaints } = await browser.open('/console')
  await enter(page, actor)
  const changes = page.getByRole('region', { name: 'Latest changes as a table' })
  await changes.waitFor()
  expect(await changes.getByRole('row').count()).toBe(2)
  await Bun.sleep(500)
  const { body } = await book()
  await changes.getByRole('rowheader', { name: String(body.data.booking_id) }).waitFor()
  await page.getByRole('radio', { name: 'Sandbox' }).check()
  await changes.getByRole('rowheader', { name: '5001' }).waitFor()
  await page.getByText('GET /sandbox/listings/1').waitFor()
  expect(complaints).toEqual([])
  await page.close()
})

test('a wrong key, a key without permissions and an unreachable service are told in words', async () => {
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
  await page.getByText('No requests in the last hour.').or(page.locator('.chart')).first().waitFor()
  await saveShot(page, 'console-poor')
  await page.context().setOffline(true)
  await page.getByLabel('Request id').fill('x')
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByText('The service cannot be reached').first().waitFor()
  await page.close()
})

test('the key stays in the tab: it survives a reload, and is forgotten on demand', async () => {
  const { actor } = await busyPartner()
  const { page } = await browser.open('/console')
  await enter(page, actor)
  await page.reload()
  await page.getByRole('heading', { name: 'Latest changes' }).waitFor()
  expect(await page.evaluate('JSON.stringify(localStorage) + document.cookie + location.href')).not.toContain(
    actor.key,
  )
  const other = await page.context().newPage()
  await other.goto(`${server.url}/console`)
  await other.getByLabel('API key').waitFor()
  await page.getByRole('button', { name: 'Forget the key' }).click()
  await page.getByLabel('API key').waitFor()
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(actor.key)
  await page.close()
})

test('the page sends at most 10 requests a minute, and none while nobody sees it', async () => {
  const { actor } = await busyPartner()
  const { page } = await browser.open('/console', desktop, true)
  const countRequests = () =>
    page.evaluate(`
    globalThis.sent = []
    const send = globalThis.fetch
    globalThis.fetch = (...request) => {
      globalThis.sent.push(Date.now())
      return send(...request)
    }`)
  await countRequests()
  /** When each request was sent, by the clock of the page. */
  const sent = () => page.evaluate('globalThis.sent') as Promise<number[]>
  const pass = async () => {
    await page.clock.runFor(5000)
    await Bun.sleep(50)
  }
  await enter(page, actor)
  // A restless partner switches all the time.
  for (let count = 0; count < 24; count += 1) {
    await page.getByRole('radio', { name: count % 2 === 0 ? 'Sandbox' : 'Live' }).check()
    await pass()
  }
  const beforeReload = await sent()
  await page.reload()
  await countRequests()
  for (let count = 0; count < 6; count += 1) await pass()
  const all = [...beforeReload, ...(await sent())]
  const inMinuteFrom = (start: number) => all.filter((at) => at >= start && at < start + 60_000).length
  expect(Math.max(...all.map(inMinuteFrom))).toBeLessThanOrEqual(10)
  expect(all.length).toBeGreaterThan(10)
  const setHidden = (isHidden: boolean) =>
    page.evaluate(`
      Object.defineProperty(document, 'hidden', { get: () => ${isHidden}, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))`)
  await setHidden(true)
  await Bun.sleep(300)
  const seen = (await sent()).length
  for (let count = 0; count < 24; count += 1) await pass()
  expect((await sent()).length).toBe(seen)
  await setHidden(false)
  while ((await sent()).length === seen) await pass()
  await page.close()
})

test.each(appearances)('the console is accessible and fits at $width pixels, $scheme', async (appearance) => {
  const { actor } = await busyPartner()
  const { page, complaints } = await browser.open('/console', appearance)
  expect(await seriousFindings(page)).toEqual([])
  await enter(page, actor)
  await page.locator('.chart canvas').waitFor()
  await page.locator('.requests summary').first().click()
  await saveShot(page, `console-${appearance.width}-${appearance.scheme}`)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(appearance.width)
  expect(await seriousFindings(page)).toEqual([])
  expect(complaints).toEqual([])
  await page.close()
})

test('the console allows nothing inline, and its files cache by their content', async () => {
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
