import { join } from 'node:path'
import { expect, test } from 'vitest'
import { partnerctlHere } from '../support/admin.ts'
import { sharedServices, testApp, testEnvironment } from '../support/app.ts'
import { consumerPoller } from '../support/consumer-poller.ts'
import { wellFormedKey } from '../support/keys.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()
const partner = () => consumerPoller(service, server.url)

test.concurrent('a poll with a consumer creates it, continues with it, and does not move another one', async () => {
  const { book, poll, actor, truth } = await partner()
  await book()
  const [first, second] = await truth()
  const versionsOf = async (...args: string[]) =>
    (await poll(...args)).stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).version)
  expect(await versionsOf('--consumer', 'one')).toEqual([first, second])
  expect(await versionsOf('--consumer', 'one')).toEqual([])
  expect(await versionsOf('--consumer', 'two')).toEqual([first, second])
  const { data } = (await actor.send('GET', '/v1/integrations/provider_one/bookings/consumers')).body
  expect(data).toMatchObject([
    { name: 'one', acknowledged: second },
    { name: 'two', acknowledged: second },
  ])
  const list = ['consumers', 'list', '--json', '--limit', '1000']
  const { stdout } = await partnerctlHere(list, testEnvironment())
  const listed = JSON.parse(stdout).filter(({ host_id }: { host_id: number }) => host_id === actor.hostId)
  expect(listed).toMatchObject([{ oldest_pending_at: null }, { oldest_pending_at: null }])
})

test.concurrent('a handler that fails acknowledges what was handled before it', async () => {
  const { book, poll, truth, actor } = await partner()
  await book()
  const [first, second] = (await truth()) as [string, string]
  const handler = `test "$PARTNER_VERSION" != "${second}"`
  const { code } = await poll('--consumer', 'failing', '--exec', handler)
  expect(code).toBe(1)
  const { data } = (await actor.send('GET', '/v1/integrations/provider_one/bookings/consumers/failing')).body
  expect(data.acknowledged).toBe(first)
})

test.concurrent('SIGTERM in the middle of a page acknowledges the change in progress, and the next poll continues after it', async ({
  expect,
}) => {
  const { actor, book, poll, start, truth, folder } = await partner()
  await book()
  await book()
  const versions = await truth()
  const begun = join(folder, 'begun')
  const child = start('--consumer', 'stopped', '--exec', `cat > /dev/null; touch ${begun}; sleep 2`)
  await expect.poll(() => Bun.file(begun).exists()).toBe(true)
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
  const { data } = (await actor.send('GET', '/v1/integrations/provider_one/bookings/consumers/stopped')).body
  expect(data.acknowledged).toBe(versions[0])
  const { stdout } = await poll('--consumer', 'stopped')
  const lines = stdout.split('\n').filter(Boolean)
  expect(lines.map((line) => JSON.parse(line).version)).toEqual(versions.slice(1))
})

test.concurrent.each([
  ['--listing', '1'],
  ['--checkout-after', '2027-01-01'],
  ['--since', '2027-01-01 00:00:00'],
  ['--state', 'file'],
])('--consumer and %s cannot be used together', async (...option) => {
  const { code, stderr } = await partnerctl(['feed', 'poll', '--consumer', 'sync', ...option], {
    PARTNER_API_KEY: wellFormedKey,
  })
  expect(code).toBe(2)
  expect(stderr).toContain(`Options --consumer and ${option[0]} cannot be used together`)
})
