import { createClient } from '../../../client/src/index.ts'

/** Follows the feed as a consumer, in pages of five; prints the id of each booking. */
const [baseUrl, key] = process.argv.slice(2) as [string, string]
const client = createClient({ key, baseUrl, sandbox: true })
for await (const { booking_id } of client.bookings.feed({ consumer: 'sync', wait: 2, per_page: 5 }))
  console.log(booking_id)
