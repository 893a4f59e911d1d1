import { expect, test } from 'vitest'
import { admin, administrator, adminJson, partnerctlHere } from '../support/admin.ts'
import { seedBooking, testApp } from '../support/app.ts'

const service = await testApp()

/** Confirms a new booking as an administrator; returns the booking's id. */
async function confirmOne(): Promise<number> {
  const { booking_id } = await seedBooking(await service.actor())
  await adminJson('bookings', 'confirm', String(booking_id))
  return booking_id
}

test('partnerctl audit list shows each administrative action with its user and machine', async () => {
  const booking_id = await confirmOne()
  const acts: Record<string, string>[] = await adminJson('audit', 'list', '--limit', '200')
  expect(acts.find(({ target }) => target === `booking ${booking_id}`)).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    at: expect.any(String),
    user: expect.stringMatching(/\S/),
    machine: expect.stringMatching(/\S/),
    sudo_user: null,
    database_user: null,
    action: 'bookings confirm',
    target: `booking ${booking_id}`,
    reason: null,
  })
})

test('partnerctl audit list gives the same entries in the same order page by page and as NDJSON', async () => {
  await confirmOne()
  await confirmOne()
  const page = (...args: string[]): Promise<{ id: string }[]> =>
    adminJson('audit', 'list', '--limit', '1', ...args)
  const [first] = await page('--until', '2999-01-01')
  const [second] = await page('--after', first?.id as string)
  const whole = await partnerctlHere(
    ['audit', 'list', '--output', 'ndjson', '--since', '2020-01-01'],
    administrator(),
  )
  const ids = whole.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id as string)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.indexOf(second?.id as string) - ids.indexOf(first?.id as string)).toBe(1)
})

test.each([
  ['two formats', ['--output', 'ndjson'], 2],
  ['an unknown entry', ['--after', 'f'.repeat(24)], 1],
  ['an unknown date', ['--since', 'yesterday'], 2],
])('partnerctl audit list --json with %s exits with another code than 0', async (_, args, code) => {
  expect((await admin('audit', 'list', ...args)).code).toBe(code)
})
