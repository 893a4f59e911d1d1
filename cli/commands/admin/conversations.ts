import { defineCommand } from 'citty'
import { toTimestampOrNull } from '../../../src/clock.ts'
import { setConversationClosed } from '../../../src/messages/conversation.ts'
import { command } from '../../command.ts'
import { print, record } from '../../output.ts'
import { parseId } from '../../values.ts'
import { administer } from './administer.ts'

function changing(name: 'close' | 'reopen', description: string) {
  return command({
    meta: { name, description },
    examples: [`partnerctl conversations ${name} 5002`],
    args: { booking_id: { type: 'positional', required: true, description: 'Id of the booking' } },
    async run({ args }) {
      const id = parseId(args.booking_id)
      const conversation = await administer(`conversations ${name}`, `booking ${id}`, (act) =>
        setConversationClosed(act, id, name === 'close'),
      )
      const { booking_id, host_id, closed_at } = conversation
      const state = closed_at ? 'closed' : 'open'
      print(args, { booking_id, host_id, state, closed_at: toTimestampOrNull(closed_at) }, record)
    },
  })
}

export const conversations = defineCommand({
  subCommands: {
    close: changing('close', 'Close the conversation of a booking: no more messages can be sent'),
    reopen: changing('reopen', 'Reopen the conversation of a booking'),
  },
})
