import { defineCommand } from 'citty'
import { command } from '../../command.ts'
import { messageFeed } from '../../poll/feeds.ts'
import { parseId } from '../../values.ts'
import { pollArgs, runPoll } from './polling.ts'

const poll = command({
  meta: { name: 'poll', description: 'Deliver every new message of all conversations, once each' },
  examples: [
    'partnerctl messages poll --once',
    'partnerctl messages poll --follow --sender guest --exec ./answer-guest',
  ],
  args: {
    booking: { type: 'string', description: 'Only the conversation of this booking' },
    sender: { type: 'enum', options: ['guest', 'host'], description: 'Only messages of this side' },
    ...pollArgs,
  },
  async run({ args }) {
    if (args.booking !== undefined) parseId(args.booking)
    await runPoll(messageFeed, args, { booking_id: args.booking, sender: args.sender })
  },
})

export const messages = defineCommand({
  subCommands: { poll },
})
