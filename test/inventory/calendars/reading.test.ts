import { afterAll, expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { calendarOf, dayFromNow, listingWithCalendars, startCalendarServer } from '../../support/calendars.ts'
import { ownDatabase } from '../../support/databases.ts'

const ahead = 0
const clock = () => new Date(Date.now() + ahead * 1000)
const service = await testApp({ MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on' }, clock)
const actor = await service.actor()
const server = startCalendarServer((stop) => afterAll(() => stop().then(() => {})))
const base = '/v1/integrations/provider_one/calendars'

test('an address that is set is read soon, and its nights are blocked', async () => {
  server.serve('/first', calendarOf([[dayFromNow(3), dayFromNow(5)]]))
  const { roomIds, listing_id } = await listingWithCalendars(actor, [`${server.url}/first`])
  const entry = async () => (await actor.send('GET', `${base}/${roomIds[0]}`)).body.data.calendar
  await expect.poll(async () => (await entry()).status).toBe('ok')
  const { blocks, ...rest } = await entry()
  console.log(rest, blocks)
  expect(blocks).toMatchObject([{ start_date: dayFromNow(3), end_date: dayFromNow(5), booking_id: null }])
  const list = await actor.send('GET', `${base}?listing_id=${listing_id}`)
  console.log(JSON.stringify(list.body))
})
