import { indexFieldsOf, listingModel } from '../../src/inventory/listings/model.ts'
import type { Actor, TestApp } from './app.ts'
import { readFixture } from './fixtures.ts'

/** Writes listings of about 20 kB with one room type each straight into the database. */
export async function fillListings(
  service: TestApp,
  actor: Actor,
  count: number,
): Promise<{ listing_id: number; room_type_id: number }[]> {
  const firstId = await service.live.ids('listing', count)
  const firstRoomType = await service.live.ids('room_type', count)
  const at = service.live.clock()
  const listings = Array.from({ length: count }, (_, index) => {
    const roomType = { id: firstRoomType + index, partner_id: null, name: 'R', rooms: [] }
    const content = {
      name: `L${index}`,
      descriptions: { property: 'x'.repeat(20_000) },
      room_types: [roomType],
    }
    return {
      id: firstId + index,
      owner_id: actor.hostId,
      unique_id: `lst_${firstId + index}`,
      content,
      listing_status: 'draft',
      status_rank: 0,
      ...indexFieldsOf(content),
      revision: 1,
      prices: { [roomType.id]: { base_price: 1 } },
      created_at: at,
      updated_at: at,
    }
  })
  for (let start = 0; start < count; start += 200)
    await listingModel(service.live.db).collection.insertMany(listings.slice(start, start + 200))
  return listings.map(({ id, content }) => ({
    listing_id: id,
    room_type_id: content.room_types[0]?.id as number,
  }))
}

export const userOf = async (actor: Actor) =>
  (await actor.send('POST', '/v1/users', { body: await readFixture('users/maria') })).body.data
    .user_id as number
export const stay = { checkin_at: '2031-04-01', checkout_at: '2031-05-01' }
