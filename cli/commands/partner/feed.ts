import { Type } from '@sinclair/typebox'
import { defineCommand } from 'citty'
import { isCalendarDate } from '../../../src/core/clock.ts'
import { clientArgs, openClient } from '../../client/client.ts'
import { command } from '../../command.ts'
import { UsageError } from '../../errors.ts'
import { print } from '../../output.ts'
import { bookingFeed } from '../../poll/feeds.ts'
import { parseId } from '../../values.ts'
import { pollArgs, runPoll } from './polling.ts'

const poll = command({
  meta: { name: 'poll', description: 'Deliver every new or changed booking, once each' },
  examples: [
    'partnerctl feed poll --once',
    'partnerctl feed poll --follow --exec ./handle-change',
    'partnerctl feed poll --once --output ndjson --since "2026-11-20 12:00:05"',
  ],
  args: {
    listing: { type: 'string', description: 'Only this listing' },
    'checkout-after': { type: 'string', description: 'Only stays that end on or after this date' },
    ...pollArgs,
  },
  async run({ args }) {
    if (args.listing !== undefined) parseId(args.listing)
    if (args['checkout-after'] !== undefined && !isCalendarDate(args['checkout-after'])) {
      throw new UsageError(`"${args['checkout-after']}" is not a valid date`)
    }
    const filters = { listing_id: args.listing, checkout_after: args['checkout-after'] }
    await runPoll(bookingFeed, args, filters)
  },
})

const show = command({
  meta: { name: 'show', description: 'Show one booking in full' },
  examples: ['partnerctl feed show 5002 --sandbox'],
  args: {
    booking_id: { type: 'positional', required: true, description: 'Id of the booking' },
    ...clientArgs,
  },
  async run({ args }) {
    const client = await openClient(args)
    const { data } = await client.send<{ Booking: object }>(
      'GET',
      `${bookingFeed.path}/${encodeURIComponent(args.booking_id)}`,
      { expects: Type.Object({ Booking: Type.Object({}) }) },
    )
    print({ json: true }, data.Booking, String)
  },
})

export const feed = defineCommand({
  subCommands: { poll, show },
})
