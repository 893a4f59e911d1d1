import type { CommandStartedEvent } from 'mongodb'
import { expect, test } from 'vitest'
import { hostClockModel } from '../../../src/host-clock/model.ts'
import { setListingStatus } from '../../../src/inventory/listings/store.ts'
import { messageModel } from '../../../src/stays/messages/model.ts'
import { type Actor, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { fillBookings } from '../../support/many-bookings.ts'

const url = await ownDatabase()
const service = await testApp({ MONGODB_URL: `${url}&monitorCommands=true` })
const { db } = service.live
const feed = '/v1/integrations/provider_one/bookings'
const messages = '/v1/integrations/provider_one/messages'
const bookings = 100_000
const listings = 1000

/** Returns the commands of the quietest of three requests, because background work may send some at the same time. */
async function commandsOf(actor: Actor, path: string): Promise<string[]> {
  const runs: string[][] = []
  for (let run = 0; run < 3; run += 1) {
    const commands: string[] = []
    const note = ({ commandName, command }: CommandStartedEvent) => {
      const collection = command[commandName]
      const isLookUpOfKey = collection === 'keys'
      if (commandName !== 'getMore' && !isLookUpOfKey) commands.push(`${commandName} ${collection}`)
    }
    const client = db.getClient()
    client.on('commandStarted', note)
    expect((await actor.send('GET', path)).status).toBe(200)
    client.off('commandStarted', note)
    runs.push(commands)
  }
  return runs.toSorted((one, other) => one.length - other.length)[0] ?? []
}

async function fillMessages(hostId: number, count: number): Promise<void> {
  const first = Math.floor(Date.now() / 1000) - count - 3600
  const rows = Array.from({ length: count }, (_, index) => ({
    owner_id: hostId,
    id: hostId * 10_000_000 + index,
    booking_id: 1,
    listing_id: 1,
    user_id: 1,
    sender: 'guest',
    text: 'Hi',
    version: new Date((first + index) * 1000),
    created_at: new Date((first + index) * 1000),
    trace: null,
  }))
  await messageModel(db).collection.insertMany(rows as never[], { ordered: false, writeConcern: { w: 1 } })
  await hostClockModel(db).updateOne({ _id: hostId }, { $set: { messages_last: first + count - 1 } })
}

test('health beside 100,000 bookings and 1,000 listings is exact up to 10,000 and takes at most eight commands', async () => {
  const actor = await service.actor()
  const { lastVersion } = await fillBookings(db, actor.hostId, bookings)
  await fillMessages(actor.hostId, 10_050)
  const room_types = Array.from({ length: 3 }, (_, at) => ({
    name: `Room ${at}`,
    prices: { base_price: 700 },
  }))
  const ids: number[] = []
  for (let made = 0; made < listings; made += 1) {
    const body = { name: `House ${made}`, description: 'Words. '.repeat(200), room_types }
    ids.push((await actor.send('POST', '/v1/listings', { body })).body.data.id)
  }
  for (const id of ids) await setListingStatus(service.live, { id, owner_id: actor.hostId }, 'published')
  const versionAt = (fromEnd: number) =>
    new Date(lastVersion.getTime() - fromEnd * 1000).toISOString().slice(0, 19).replace('T', ' ')
  const put = (path: string, name: string, acknowledged: string | null) =>
    actor.send('PUT', `${path}/consumers/${name}`, { body: { acknowledged } })
  await put(feed, 'slow', versionAt(50_000))
  await put(feed, 'first', null)
  await put(feed, 'near', versionAt(9999))
  await put(feed, 'at-limit', versionAt(10_000))
  await put(messages, 'first', null)
  await actor.send('GET', `${feed}?updated_after=${encodeURIComponent(versionAt(20_000))}&per_page=1`)
  await service.live.activity.flush()
  const { body } = await actor.send('GET', '/v1/health')
  expect(body.data.feeds.bookings).toMatchObject({
    newest_version: versionAt(0),
    read_version: versionAt(19_999),
    unread: 10_000,
    oldest_unread_at: `${versionAt(19_998).replace(' ', 'T')}.000000Z`,
  })
  const consumers = (await actor.send('GET', `${feed}/consumers`)).body.data
  const lag = ({ name, pending, oldest_pending_at }: Record<string, unknown>) => ({
    name,
    pending,
    oldest_pending_at,
  })
  expect(consumers.map(lag)).toEqual([
    { name: 'at-limit', pending: 10_000, oldest_pending_at: `${versionAt(9999).replace(' ', 'T')}.000000Z` },
    { name: 'first', pending: 10_000, oldest_pending_at: expect.any(String) },
    { name: 'near', pending: 9999, oldest_pending_at: `${versionAt(9998).replace(' ', 'T')}.000000Z` },
    { name: 'slow', pending: 10_000, oldest_pending_at: `${versionAt(49_999).replace(' ', 'T')}.000000Z` },
  ])
  const commands = await commandsOf(actor, '/v1/health')
  expect(commands.length).toBeLessThanOrEqual(8)
})
