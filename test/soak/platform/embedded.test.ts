import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { isAlive } from '../../../src/platform/process.ts'
import { sender } from '../../support/app.ts'
import { keyIn, makeDataDir } from '../../support/embedded.ts'
import { readFixture } from '../../support/fixtures.ts'
import { partnerctl } from '../../support/processes.ts'

test.concurrent('acknowledged writes survive kill -9 of the service and of mongod', async ({
  onTestFinished,
}) => {
  const { start, mongodPid } = await makeDataDir(onTestFinished)
  const first = await start()
  const key = keyIn(first.output()) as string
  const send = sender(fetch, first.url)
  const users: number[] = []
  for (let count = 0; count < 20; count += 1) {
    const body = { ...(await readFixture('users/minimal')), email: `u${count}@example.com` }
    const created = await send('POST', '/v1/users', { key, body })
    users.push(created.body.data.user_id)
  }
  const listing = await send('POST', '/v1/listings', {
    key,
    body: await readFixture('listings/tokyo-share-house'),
  })
  process.kill(await mongodPid(), 'SIGKILL')
  await first.end('SIGKILL')

  const second = await start()
  const again = sender(fetch, second.url)
  const body = { listing_id: listing.body.data.id, checkin_at: '2027-01-01', checkout_at: '2027-02-01' }
  const read = await again('GET', `/v1/listings/${body.listing_id}`, { key })
  expect(read.body.data.name).toBe('下北沢シェアハウス')
  const room_type_id = read.body.data.room_types[0].id
  for (const user_id of users) {
    expect(
      (await again('POST', '/v1/bookings', { key, body: { ...body, room_type_id, user_id } })).status,
    ).toBe(201)
  }
})

test.concurrent('a second process and partnerctl join the running mongod, and the last one to exit stops it', async ({
  onTestFinished,
}) => {
  const { dataDir, start, mongodPid } = await makeDataDir(onTestFinished)
  const first = await start()
  const second = await start()
  const pid = await mongodPid()
  const created = await partnerctl(['hosts', 'create', '--name', 'H', '--email', 'h@example.com', '--json'], {
    DATA_DIR: dataDir,
  })
  expect(JSON.parse(created.stdout)).toEqual({ id: 2, name: 'H', email: 'h@example.com' })
  expect(await mongodPid()).toBe(pid)
  expect(await first.end('SIGTERM')).toBe(0)
  expect((await fetch(`${second.url}/readyz`)).status).toBe(200)
  expect(await second.end('SIGTERM')).toBe(0)
  expect(isAlive(pid)).toBe(false)
})

test.concurrent('after kill -9 of the service alone the next start takes over its mongod', async ({
  onTestFinished,
}) => {
  const { start, mongodPid } = await makeDataDir(onTestFinished)
  const first = await start()
  const pid = await mongodPid()
  await first.end('SIGKILL')
  expect(isAlive(pid)).toBe(true)
  const second = await start()
  expect(await mongodPid()).toBe(pid)
  await second.end('SIGTERM')
  expect(isAlive(pid)).toBe(false)
})

test.concurrent('a service stopped or killed during its first start leaves nothing that prevents the next start', async ({
  onTestFinished,
}) => {
  const { dataDir, start, startHastily, mongodPid, serversOnDisk } = await makeDataDir(onTestFinished)
  const asked = startHastily()
  while ((await serversOnDisk()).length === 0) await Bun.sleep(20)
  asked.kill('SIGTERM')
  expect(await asked.exited).toBe(0)
  expect(await serversOnDisk()).toEqual([])

  await rm(dataDir, { recursive: true })
  const killed = startHastily()
  while (!(await mongodPid().catch(() => 0))) await Bun.sleep(5)
  killed.kill('SIGKILL')
  await killed.exited
  const next = await start()
  expect(await serversOnDisk()).toEqual([await mongodPid()])
  expect(await next.end('SIGTERM')).toBe(0)
  expect(await serversOnDisk()).toEqual([])
})

test.concurrent('a killed mongod that two services use is restarted, and the last one to exit stops the new one', async ({
  onTestFinished,
}) => {
  const { start, mongodPid, serversOnDisk } = await makeDataDir(onTestFinished)
  const first = await start()
  const second = await start()
  const old = await mongodPid()
  process.kill(old, 'SIGKILL')
  while ((await mongodPid()) === old) await Bun.sleep(20)
  // The service that did not restart the `mongod` may not have noticed the restart yet.
  expect(await Promise.all([first.end('SIGTERM'), second.end('SIGTERM')])).toEqual([0, 0])
  expect(await serversOnDisk()).toEqual([])
})
