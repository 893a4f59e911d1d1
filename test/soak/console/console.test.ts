import { afterAll, expect, test } from 'vitest'
import { testApp, testEnvironment } from '../../support/app.ts'
import { appearances, desktop, openBrowser, saveShot, seriousFindings } from '../../support/browser.ts'
import { busyPartner, enterKey } from '../../support/console.ts'
import { startService } from '../../support/processes.ts'

const environment = { WEBHOOKS_ALLOW_PRIVATE: 'on' }
const service = await testApp(environment)
const server = await startService(testEnvironment(environment))
afterAll(() => server.stop())
const browser = await openBrowser(server.url)

// The tests wait most of the time, because a page sends at most ten requests a minute.
test.concurrent('the page sends at most 10 requests a minute, and none while it is hidden', async () => {
  const { actor } = await busyPartner(service)
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
  /** Returns the time of each request, by the page's clock. */
  const sent = () => page.evaluate('globalThis.sent') as Promise<number[]>
  const pass = async () => {
    await page.clock.runFor(5000)
    await Bun.sleep(50)
  }
  await enterKey(page, actor)
  // A restless partner switches back and forth all the time.
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

test.concurrent.each(appearances)(
  'the console is accessible and fits at $width pixels, $scheme',
  async (appearance) => {
    const { actor } = await busyPartner(service)
    const { page, complaints } = await browser.open('/console', appearance)
    expect(await seriousFindings(page)).toEqual([])
    await enterKey(page, actor)
    await page.locator('.chart canvas').waitFor()
    await page.locator('.requests summary').first().click()
    await saveShot(page, `console-${appearance.width}-${appearance.scheme}`)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(appearance.width)
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('radio', { name: 'Sandbox' }).check()
    await page.getByLabel('Scenario').waitFor()
    await saveShot(page, `console-sandbox-${appearance.width}-${appearance.scheme}`)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(appearance.width)
    expect(await seriousFindings(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.close()
  },
)

test.concurrent('a request is found by its id, even if it is searched for right after its response', async () => {
  const { actor } = await busyPartner(service)
  const { page } = await browser.open('/console')
  await enterKey(page, actor)
  const refused = await fetch(`${server.url}/v1/users`, {
    method: 'POST',
    headers: { 'x-api-key': actor.key },
    body: '{}',
  })
  await page.getByLabel('Request id').fill(refused.headers.get('x-request-id') as string)
  await page.getByRole('button', { name: 'Find' }).click()
  await page.locator('search details', { hasText: '"email" is required' }).waitFor()
  await page.close()
})

test.concurrent('changes appear automatically in the selected environment', async () => {
  const { actor, book } = await busyPartner(service)
  const { page, complaints } = await browser.open('/console')
  await enterKey(page, actor)
  const changes = page.getByRole('region', { name: 'Latest changes as a table' })
  await changes.waitFor()
  expect(await changes.getByRole('row').count()).toBe(2)
  const { body } = await book()
  await changes.getByRole('rowheader', { name: String(body.data.booking_id) }).waitFor()
  await page.getByRole('radio', { name: 'Sandbox' }).check()
  // The page sends at most ten requests a minute, so a missed update appears only after the next request.
  const timeout = 120_000
  await changes.getByRole('rowheader', { name: '5001' }).waitFor({ timeout })
  await page.getByText('GET /sandbox/listings/1').waitFor({ timeout })
  expect(complaints).toEqual([])
  await page.close()
})

test.concurrent('the key stays in the tab, survives a reload and is forgotten on demand', async () => {
  const { actor } = await busyPartner(service)
  const { page } = await browser.open('/console')
  await enterKey(page, actor)
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
