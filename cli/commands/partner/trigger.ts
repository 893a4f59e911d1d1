import { Type } from '@sinclair/typebox'
import { openSandboxClient, sandboxArgs } from '../../client/client.ts'
import { command } from '../../command.ts'
import { print, record, table } from '../../output.ts'
import { parseId } from '../../values.ts'

const Scenarios = Type.Array(
  Type.Object({ name: Type.String(), summary: Type.String(), parameters: Type.Array(Type.String()) }),
)
const Played = Type.Object({
  played: Type.Object({
    scenario: Type.String(),
    bookings: Type.Array(Type.Object({ booking_id: Type.Integer(), status: Type.String() })),
    messages: Type.Array(Type.Object({ id: Type.Integer(), booking_id: Type.Integer() })),
    nights: Type.Array(Type.String()),
  }),
})

interface Scenario {
  name: string
  summary: string
  parameters: string[]
}
interface Result {
  scenario: string
  bookings: { booking_id: number; status: string }[]
  messages: { id: number; booking_id: number }[]
  nights: string[]
}

export const trigger = command({
  examples: [
    'partnerctl trigger',
    'partnerctl trigger guest-books --count 3',
    'partnerctl trigger guest-cancels --booking 10017',
  ],
  args: {
    scenario: {
      type: 'positional',
      required: false,
      description: 'The scenario to play; without it, the scenarios are listed',
    },
    listing: { type: 'string', description: 'Where it plays', valueHint: 'id' },
    booking: { type: 'string', description: 'The booking that it is about', valueHint: 'id' },
    count: { type: 'string', description: 'How many', valueHint: 'n' },
    checkin: { type: 'string', description: 'First night of its stays', valueHint: 'date' },
    ...sandboxArgs,
  },
  async run({ args }) {
    const { scenario, listing, booking, count, checkin } = args
    const parameters = {
      ...(listing === undefined ? {} : { listing_id: parseId(listing) }),
      ...(booking === undefined ? {} : { booking_id: parseId(booking) }),
      // Other values are sent unchecked, because the service explains what is wrong with them.
      ...(count === undefined ? {} : { count: /^\d+$/.test(count) ? Number(count) : count }),
      ...(checkin === undefined ? {} : { checkin_at: checkin }),
    }
    const client = await openSandboxClient(args)
    if (scenario === undefined) {
      const { data } = await client.send<Scenario[]>('GET', '/scenarios', { expects: Scenarios })
      return print(args, data, () =>
        table(
          ['SCENARIO', 'TAKES', 'WHAT HAPPENS'],
          data.map(({ name, parameters, summary }) => [name, parameters.join(', '), summary]),
        ),
      )
    }
    const body = JSON.stringify(parameters)
    const path = `/scenarios/${encodeURIComponent(scenario)}`
    const { data } = await client.send<{ played: Result }>('POST', path, { body, expects: Played })
    print(args, data.played, describe)
  },
})

function describe({ scenario, bookings, messages, nights }: Result): string {
  const range = nights.length > 0 ? { nights: `${nights[0]} to ${nights.at(-1)}` } : {}
  return record({
    scenario,
    bookings: bookings.map(({ booking_id, status }) => `${booking_id} ${status}`).join(', '),
    messages: messages.map(({ id, booking_id }) => `${id} of ${booking_id}`).join(', ') || null,
    ...range,
  })
}
