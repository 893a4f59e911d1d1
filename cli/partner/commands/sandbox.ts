import { defineCommand } from 'citty'
import type { Schemas } from '../../../client/src/index.ts'
import { command, option, positional } from '../../shared/command.ts'
import { UsageError } from '../../shared/errors.ts'
import { print, record } from '../../shared/output.ts'
import { printList, table } from '../../shared/table.ts'
import { parseDuration, parseId, readText } from '../../shared/values.ts'
import { openSandboxClient, sandboxArgs } from '../client.ts'

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
    listing: option('Listing in which the scenario plays', 'id'),
    booking: option('Booking that the scenario is about', 'id'),
    count: option('Number of guests, messages or stays', 'n'),
    checkin: option('First night of the stays', 'date'),
    ...sandboxArgs,
  },
  async run({ args }) {
    const { scenario, listing, booking, count, checkin } = args
    const parameters = {
      ...(listing === undefined ? {} : { listing_id: parseId(listing) }),
      ...(booking === undefined ? {} : { booking_id: parseId(booking) }),
      // Other values are not checked here, because the service explains which values are invalid.
      ...(count === undefined ? {} : { count: (/^\d+$/.test(count) ? Number(count) : count) as number }),
      ...(checkin === undefined ? {} : { checkin_at: checkin }),
    }
    if (scenario === undefined && Object.keys(parameters).length > 0)
      throw new UsageError('Options --listing, --booking, --count and --checkin require a scenario')
    const { sandbox } = await openSandboxClient(args)
    if (scenario === undefined)
      return printList(args, await sandbox.scenarios(), {
        SCENARIO: 'name',
        TAKES: (row) => row.parameters.join(', '),
        'WHAT HAPPENS': 'summary',
      })
    print(args, await sandbox.play(scenario, parameters), describePlayed)
  },
})

function describePlayed({ scenario, bookings, messages, nights }: Schemas['SandboxScenarioPlayed']): string {
  const range = nights.length > 0 ? { nights: `${nights[0]} to ${nights.at(-1)}` } : {}
  return record({
    scenario,
    bookings: bookings.map(({ booking_id, status }) => `${booking_id} ${status}`).join(', '),
    messages: messages.map(({ id, booking_id }) => `${id} of ${booking_id}`).join(', ') || null,
    ...range,
  })
}

export const clock = command({
  examples: ['partnerctl clock', 'partnerctl clock advance 25h'],
  args: {
    action: { type: 'positional', required: false, description: '"advance", to move the clock forward' },
    by: { type: 'positional', required: false, description: 'How far, such as 90m, 25h or 5d' },
    ...sandboxArgs,
  },
  async run({ args }) {
    const { action, by } = args
    if (action !== undefined && action !== 'advance')
      throw new UsageError(`"${action}" is not "advance": the clock only moves forward`)
    if (action === 'advance' && by === undefined)
      throw new UsageError('Give a duration, for example: partnerctl clock advance 25h')
    const seconds = by === undefined ? undefined : parseDuration(by)
    const { sandbox } = await openSandboxClient(args)
    const now = seconds === undefined ? sandbox.clock() : sandbox.advanceClock(seconds)
    print(args, await now, record)
  },
})

type Faults = Schemas['SandboxFaults']

function describeFaults({ rules }: Faults): string {
  if (rules.length === 0) return 'No faults'
  return table(rules, {
    FAULT: 'fault',
    OF: ({ operation, event }) => operation ?? event ?? 'each',
    'PASS FIRST': ({ left }) => left.after,
    LEFT: ({ left }) => left.times,
  })
}

const listFaults = command({
  meta: { name: 'list', description: 'List the fault rules and their remaining counts' },
  examples: ['partnerctl faults list'],
  args: sandboxArgs,
  async run({ args }) {
    const { sandbox } = await openSandboxClient(args)
    print(args, await sandbox.faults(), describeFaults)
  },
})

const setFaults = command({
  meta: { name: 'set', description: 'Replace all fault rules of the sandbox' },
  examples: [
    'partnerctl faults set rules.json',
    `echo '{"rules": [{"fault": "lost_response", "operation": "createBooking"}]}' | partnerctl faults set -`,
  ],
  args: {
    file: positional('File with the rules, or - for standard input'),
    ...sandboxArgs,
  },
  async run({ args }) {
    const body = await readText(args.file)
    const client = await openSandboxClient(args)
    // The text is sent unchanged, because the service explains any errors in it.
    print(args, await client.request<Faults>('PUT', '/faults', { body }), describeFaults)
  },
})

const clearFaults = command({
  meta: { name: 'clear', description: 'Remove all fault rules' },
  examples: ['partnerctl faults clear'],
  args: sandboxArgs,
  async run({ args }) {
    const { sandbox } = await openSandboxClient(args)
    print(args, await sandbox.clearFaults(), describeFaults)
  },
})

export const faults = defineCommand({ subCommands: { list: listFaults, set: setFaults, clear: clearFaults } })
