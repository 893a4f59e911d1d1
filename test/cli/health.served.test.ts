import { test } from 'vitest'
import { partnerctlQuickly } from '../support/admin.ts'
import { type Actor, seedBooking, sharedServices, testApp } from '../support/app.ts'
import { limitAllNights } from '../support/availability.ts'
import { wellFormedKey } from '../support/keys.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()

/** Returns functions that act for one partner. */
async function partner() {
  const actor = await service.actor()
  const environment = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: actor.key }
  return {
    actor,
    run: (...args: string[]) => partnerctl(args, environment),
    health: async () => JSON.parse((await partnerctl(['health', '--sandbox', '--json'], environment)).stdout),
  }
}

const get = ({ key }: Actor, path: string) => fetch(server.url + path, { headers: { 'x-api-key': key } })
const feed = '/integrations/provider_one/bookings'

test.concurrent('a partner who reads the feed is told how far, and the command ends with 0', async ({
  expect,
}) => {
  const { actor, run } = await partner()
  const before = await run('health')
  expect(before).toEqual({
    code: 0,
    stdout: 'bookings  never read by this key\nmessages  never read by this key\n',
    stderr: '',
  })
  await seedBooking(actor)
  const page = await (await get(actor, `/v1${feed}`)).json()
  const { version } = page.data.Bookings.at(-1)
  // The service writes positions every two seconds.
  await expect.poll(async () => (await run('health')).stdout).toContain(`0 unread; read up to ${version}`)
})

test.concurrent('a poller that has stopped is a failure: a line for the finding, the exit code 1, and 0 once it reads again', async ({
  expect,
}) => {
  const { actor, run, health } = await partner()
  await limitAllNights(actor, '/sandbox')
  await get(actor, `/sandbox${feed}?updated_after=2020-01-01`)
  await expect.poll(async () => (await health()).feeds.bookings.unread).toBe(0)
  await run('trigger', 'guest-books')
  await run('clock', 'advance', '31m')
  const stopped = await run('health', '--sandbox')
  expect(stopped).toEqual({
    code: 1,
    stdout: expect.stringMatching(
      /^failing {2}feed_unread {2}[\dT:.-]+Z {2}This key has not read the booking feed .+\nbookings {2}1 unread since [\dT:.-]+Z; read up to .+\nmessages {2}never read by this key\n$/,
    ),
    stderr: 'The integration is failing: feed_unread\n',
  })
  const json = await run('health', '--sandbox', '--json')
  expect({ code: json.code, ...JSON.parse(json.stdout) }).toMatchObject({
    code: 1,
    status: 'failing',
    findings: [{ code: 'feed_unread', feed: 'bookings', unread: 1 }],
  })
  expect((await run('health')).code).toBe(0)
  await get(actor, `/sandbox${feed}`)
  await expect.poll(async () => (await run('health', '--sandbox')).code).toBe(0)
})

test.concurrent('doctor only looks at the feed, so a key that has never read it still has never read it', async ({
  expect,
}) => {
  const { actor, run, health } = await partner()
  expect(await run('doctor', '--sandbox')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/feed +ok/),
  })
  // The service writes positions in the order of the reads, so this later one shows that doctor's would be written.
  await get(actor, `/sandbox${feed.replace('bookings', 'messages')}`)
  await expect.poll(async () => (await health()).feeds.messages.read_at).not.toBeNull()
  expect((await health()).feeds.bookings).toMatchObject({ read_at: null, read_version: null, unread: null })
})

test.concurrent('a warning is printed, and is no failure', async ({ expect }) => {
  const { actor, run } = await partner()
  for (let count = 0; count < 20; count += 1) await get(actor, '/v1/users/999999999')
  await expect
    .poll(async () => await run('health'))
    .toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^warning {2}requests_refused {2}- {2}20 of the \d+ requests .+\nbookings/,
      ),
      stderr: '',
    })
})

test.concurrent('without "bookings.read" the feeds are not shown, and wrong usage is 2', async ({
  expect,
}) => {
  const { key } = await service.actor({ permissions: ['users.read'] })
  const environment = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: key }
  const shown = 'not shown: the key lacks the permission bookings.read'
  expect(await partnerctl(['health'], environment)).toEqual({
    code: 0,
    stdout: `bookings  ${shown}\nmessages  ${shown}\n`,
    stderr: '',
  })
  expect((await partnerctlQuickly(['health', '--quiet'], environment)).code).toBe(2)
  const refused = { ...environment, PARTNER_API_KEY: wellFormedKey }
  expect(await partnerctl(['health'], refused)).toMatchObject({ code: 4, stdout: '' })
})
