import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { mintKey } from '../../../src/access/keys/store.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { openMongo } from '../../../src/platform/mongo/connection.ts'
import { desktop, expectAccessible, openBrowser, saveShot } from '../../support/browser.ts'
import {
  type CalendarServer,
  calendarOf,
  dayFromNow,
  listingWithCalendars,
  startCalendarServer,
} from '../../support/calendars.ts'
import { enterKey, inTime } from '../../support/console.ts'
import { onScopeEnd, ownDatabase } from '../../support/databases.ts'
import { awaitDay } from '../../support/midnight.ts'
import { serve } from '../../support/served.ts'

await awaitDay()
// Processes that do not allow private addresses must not read this file's calendars.
const service = await serve({ MONGODB_URL: await ownDatabase() })
const browser = await openBrowser(service.url)
const base = '/v1/integrations/provider_one/calendars'
const day = (days: number) => dayFromNow(days)

/** Starts a server of the test's own, because readings at one server take turns. */
function newServer(): CalendarServer {
  return startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
}

const panelOf = (page: Page) => page.getByRole('region', { name: 'Calendars', exact: true })

test('the panel shows what needs somebody first: conflicts, failures, and when each calendar was read', async () => {
  const server = newServer()
  const actor = await service.actor()
  server.serve('/secret-token-1', calendarOf([]))
  server.serve('/secret-token-2', '<html></html>')
  server.serve('/secret-token-3', calendarOf([[day(3), day(5)]]))
  const urls = [1, 2, 3].map((at) => `${server.url}/secret-token-${at}`)
  const rooms: number[] = []
  const guests: object[] = []
  for (const url of urls) {
    const { roomIds, ...guest } = await listingWithCalendars(actor, [url])
    rooms.push(...roomIds)
    guests.push(guest)
  }
  const waiting = async () => (await actor.send('GET', `${base}?status=waiting`)).body.data.calendars.length
  await expect.poll(waiting).toBe(0)
  const stay = { ...guests[0], checkin_at: day(10), checkout_at: day(12) }
  expect((await actor.send('POST', '/v1/bookings', { body: stay })).status).toBe(201)
  server.serve('/secret-token-1', calendarOf([[day(11), day(14)]]))
  await actor.send('POST', `${base}/${rooms[0]}/read`, { body: { accept: true } })

  const { page, complaints } = await browser.open('/console')
  await enterKey(page, actor)
  const panel = panelOf(page)
  await panel.getByRole('button', { name: 'Show the calendars' }).click()
  const shown = panel.locator('details')
  await shown.first().waitFor()
  expect(await shown.locator('summary').allTextContents()).toEqual([
    expect.stringMatching(new RegExp(`^Room ${rooms[0]} okconflictsread (now|\\d+ (second|minute)s? ago)$`)),
    `Room ${rooms[1]} failingnot a calendar; never read`,
    expect.stringMatching(new RegExp(`^Room ${rooms[2]} okread (now|\\d+ (second|minute)s? ago)$`)),
  ])
  await shown.first().locator('summary').click()
  const facts = shown.first().locator('.facts')
  expect(await facts.locator('dd').allTextContents()).toEqual([
    expect.stringMatching(/^\d+$/),
    server.url,
    '3 from today on',
    `more bookings and blocks than rooms on ${day(11)}`,
    '1, of which 1 block a night',
    expect.stringMatching(/^in 1\d minutes$/),
  ])
  expect(await page.content()).not.toContain('secret-token')
  expect(complaints).toEqual([])
  await shown.first().getByRole('button', { name: 'Read now' }).click()
  await shown
    .first()
    .getByText(/The calendar was read less than 60 s ago; try again in \d+ s/)
    .waitFor()
  await expectAccessible(page, 'console-calendars')
  await page.close()
})

test('in the sandbox, a calendar is read when the partner asks, and a file that lacks much is taken only if accepted', async () => {
  const server = newServer()
  const actor = await service.actor()
  server.serve('/room', calendarOf([[day(3), day(23)]]))
  const { roomIds } = await listingWithCalendars(actor, [`${server.url}/room`], '/sandbox')
  const { page, complaints } = await browser.open('/console', desktop, true)
  await enterKey(page, actor)
  await page.getByRole('radio', { name: 'Sandbox' }).check()
  const panel = panelOf(page)
  const show = panel.getByRole('button', { name: 'Show the calendars' })
  await inTime(page, show)
  await show.click()
  const room = panel.locator('details', { hasText: `Room ${roomIds[0]}` })
  await inTime(page, room)
  expect(await room.locator('summary').textContent()).toBe(`Room ${roomIds[0]} waitingnot read yet`)
  await room.locator('summary').click()
  await room.getByText('when you ask for it, because this is the sandbox').waitFor()
  await room.getByRole('button', { name: 'Read now' }).click()
  await inTime(page, room.getByText('20 from today on'))
  expect(await room.locator('summary').textContent()).toMatch(/ okread \d/)
  server.serve('/room', calendarOf([]))
  await actor.send('POST', '/sandbox/clock', { body: { advance_seconds: 61 } })
  expect(await room.getByRole('button').allTextContents()).toEqual(['Read now'])
  await room.getByRole('button', { name: 'Read now' }).click()
  const accept = room.getByRole('button', { name: 'Take the file as it is' })
  await inTime(page, accept)
  await saveShot(page, 'console-calendars-holding')
  expect(await room.locator('summary').textContent()).toMatch(
    / holdingread \d.+; so many nights are gone that none is freed before \d/,
  )
  const what = room.getByRole('link', { name: 'What to do about it' })
  expect(await what.getAttribute('href')).toBe('/guide/calendars#watch')
  await accept.click()
  await inTime(page, room.getByText('0 from today on', { exact: true }))
  expect(await accept.count()).toBe(0)
  expect(complaints).toEqual([])
  await page.close()
})

test('the panel says what a key lacks, how to get a calendar, and offers no reading to a key that may only look', async () => {
  const server = newServer()
  server.serve('/room', calendarOf([]))
  const actor = await service.actor()
  const db = await openMongo(service.settings.MONGODB_URL as string)
  onScopeEnd(() => db.close())
  const keyWith = async (permissions: Parameters<typeof mintKey>[2]['permissions']) =>
    mintKey(db, systemClock, { host: actor.hostId, name: 'Other', permissions })
  const { page } = await browser.open('/console')
  await enterKey(page, await keyWith(['bookings.read']))
  const panel = panelOf(page)
  await panel.getByText('This key may not read listings: it lacks the permission listings.read.').waitFor()
  await page.close()

  const { page: other } = await browser.open('/console')
  await enterKey(other, await keyWith(['listings.read']))
  const ofOther = panelOf(other)
  const show = ofOther.getByRole('button', { name: 'Show the calendars' })
  await show.click()
  const how = ofOther.getByRole('link', { name: "Set the address of a room's calendar" })
  await how.waitFor()
  expect(await how.getAttribute('href')).toBe('/guide/calendars#set-the-address')
  await listingWithCalendars(actor, [`${server.url}/room`])
  await other.reload()
  await show.click()
  await ofOther.locator('summary').first().click()
  await ofOther.getByText('from today on').waitFor()
  expect(await ofOther.getByRole('button', { name: 'Read now' }).count()).toBe(0)
  await other.close()
})
