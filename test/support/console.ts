import type { Locator, Page } from 'playwright-core'
import { type Actor, seedBooking, type TestApp } from './app.ts'

const provider = '/v1/integrations/provider_one'

/** Creates a partner with bookings, a consumer that is behind, and failed requests. */
export async function busyPartner(service: TestApp, rateLimit = 60) {
  const actor = await service.actor({ rateLimit })
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
  await service.logged()
  const stay = { ...own, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const book = () => actor.send('POST', '/v1/bookings', { body: stay })
  return { actor, book, requestId: refused.headers.get('x-request-id') as string }
}

/** Enters a key and waits until the console shows the data that the key may see. */
export async function enterKey(page: Page, { key }: Pick<Actor, 'key'>): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Latest changes' }).waitFor()
}

/** Moves the page's clock until `seen` is visible, because the page sends at most ten requests a minute. */
export async function inTime(page: Page, seen: Locator): Promise<void> {
  while (!(await seen.first().isVisible())) {
    await page.clock.runFor(5000)
    await Bun.sleep(50)
  }
}
