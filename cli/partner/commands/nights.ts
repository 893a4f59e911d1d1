import { isCalendarDate } from '../../../client/src/index.ts'
import { command, option, positional } from '../../shared/command.ts'
import { UsageError } from '../../shared/errors.ts'
import { print, show, visible } from '../../shared/output.ts'
import { standardOutput } from '../../shared/streams.ts'
import { parseId } from '../../shared/values.ts'
import { clientArgs, openClient, timeOf } from '../client.ts'
import { addDays, toDay } from '../dates.ts'
import { drawNights } from '../draw-nights.ts'

const shownNights = 30
const widthOfNoTerminal = 80

export const nights = command({
  examples: ['partnerctl nights 2001', 'partnerctl nights 2001 --from 2027-03-01 --to 2027-05-31'],
  args: {
    listing: positional('Id of the listing'),
    from: option('First night (default: today)', 'date'),
    to: option(`Last night, at most 366 in all (default: ${shownNights} nights)`, 'date'),
    ...clientArgs,
  },
  async run({ args }) {
    const listingId = parseId(args.listing)
    const from = args.from === undefined ? undefined : parseDay(args.from)
    const to = args.to === undefined ? undefined : parseDay(args.to)
    const client = await openClient(args)
    const start = from ?? toDay(await timeOf(client))
    const end = to ?? addDays(start, shownNights - 1)
    const range = { listing_id: listingId, start_date: start, end_date: end }
    const { nights: byListing } = await client.availability.nights(range)
    const byRoomType = byListing[listingId] ?? {}
    if (args.json) return print(args, byRoomType, String)
    const { room_types } = await client.listings.get(listingId)
    const names = new Map(room_types.map(({ id, name }) => [id, name]))
    const rows = Object.entries(byRoomType).map(([id, ofRoomType]) => ({
      name: visible(names.get(Number(id)) ?? `Room type ${id}`),
      nights: ofRoomType,
    }))
    show(drawNights(rows, standardOutput.columns ?? widthOfNoTerminal))
  },
})

/** @throws UsageError unless the text is a date */
function parseDay(text: string): string {
  if (!isCalendarDate(text)) throw new UsageError(`"${text}" is not a valid date; write YYYY-MM-DD`)
  return text
}
