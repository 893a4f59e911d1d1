import { Type } from '@sinclair/typebox'
import { addDays, isCalendarDate, toDay } from '../../../src/core/clock.ts'
import { supportedProvider } from '../../../src/http/paths.ts'
import { clientArgs, openClient, type PartnerClient } from '../../client/client.ts'
import { command } from '../../command.ts'
import { UsageError } from '../../errors.ts'
import { type CalendarNight, drawCalendar } from '../../nights/calendar.ts'
import { print, show } from '../../output.ts'
import { visible } from '../../text.ts'
import { parseId } from '../../values.ts'

const Nights = Type.Object({
  nights: Type.Record(
    Type.String(),
    Type.Record(Type.String(), Type.Array(Type.Object({ date: Type.String() }))),
  ),
})
const Names = Type.Object({ room_types: Type.Array(Type.Object({ id: Type.Integer() })) })

const shownNights = 30
const widthOfNoTerminal = 80

export const nights = command({
  examples: ['partnerctl nights 2001', 'partnerctl nights 2001 --from 2027-03-01 --to 2027-05-31'],
  args: {
    listing: { type: 'positional', required: true, description: 'Id of the listing' },
    from: { type: 'string', description: 'First night (default: today)', valueHint: 'date' },
    to: {
      type: 'string',
      description: `Last night, at most 366 in all (default: ${shownNights} nights)`,
      valueHint: 'date',
    },
    ...clientArgs,
  },
  async run({ args }) {
    const listingId = parseId(args.listing)
    const start = parseDay(args.from ?? toDay(new Date()))
    const end = parseDay(args.to ?? addDays(start, shownNights - 1))
    const client = await openClient(args)
    const byRoomType = await readNights(client, listingId, start, end)
    if (args.json) return print(args, byRoomType, String)
    const names = await readNames(client, listingId)
    const rows = Object.entries(byRoomType).map(([id, ofRoomType]) => ({
      name: visible(names.get(Number(id)) ?? `Room type ${id}`),
      nights: ofRoomType,
    }))
    show(drawCalendar(rows, process.stdout.columns || widthOfNoTerminal))
  },
})

/** @throws UsageError unless the text is a date */
function parseDay(text: string): string {
  if (!isCalendarDate(text)) throw new UsageError(`"${text}" is not a valid date; write YYYY-MM-DD`)
  return text
}

/** Reads the listing's nights, by room type id. */
async function readNights(client: PartnerClient, listing_id: number, start_date: string, end_date: string) {
  const query = { listing_id, start_date, end_date }
  const path = `/integrations/${supportedProvider}/availability/nights`
  const { data } = await client.send<{ nights: Record<string, Record<string, CalendarNight[]>> }>(
    'GET',
    path,
    { query, expects: Nights },
  )
  return data.nights[listing_id] ?? {}
}

async function readNames(client: PartnerClient, listingId: number): Promise<Map<number, string | null>> {
  const { data } = await client.send<{ room_types: { id: number; name: string | null }[] }>(
    'GET',
    `/listings/${listingId}`,
    { expects: Names },
  )
  return new Map(data.room_types.map(({ id, name }) => [id, name]))
}
