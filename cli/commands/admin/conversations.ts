import { defineCommand } from 'citty'
import { toTimestampOrNull } from '../../../src/core/clock.ts'
import { normalize } from '../../../src/http/schema/normalize.ts'
import { findProblems } from '../../../src/http/schema/problems.ts'
import type { Session } from '../../../src/platform/mongo/connection.ts'
import { findBookingOfAnyHost } from '../../../src/stays/bookings/store.ts'
import { replyAsGuest, setConversationClosed } from '../../../src/stays/messages/conversation.ts'
import { MessageCreate } from '../../../src/stays/messages/schema.ts'
import { serializeMessageItem } from '../../../src/stays/messages/serialize.ts'
import { command } from '../../command.ts'
import { UsageError } from '../../errors.ts'
import { print, record } from '../../output.ts'
import { parseId } from '../../values.ts'
import { administer, readReason, reasonArgument } from './administer.ts'

function changing(name: 'close' | 'reopen', description: string) {
  return command({
    meta: { name, description },
    examples: [`partnerctl conversations ${name} 5002`],
    args: {
      booking_id: { type: 'positional', required: true, description: 'Id of the booking' },
      ...(name === 'close' ? reasonArgument : {}),
    },
    async run({ args }) {
      const id = parseId(args.booking_id)
      const reason = readReason(args.reason)
      const conversation = await administer(
        `conversations ${name}`,
        `booking ${id}`,
        async (act) => {
          const booking = await findBookingOfAnyHost(act.db, id)
          return act.together(booking.host_id, () => setConversationClosed(act, booking, name === 'close'))
        },
        { record: 'caller', reason },
      )
      const { booking_id, host_id, closed_at } = conversation
      const state = closed_at ? 'closed' : 'open'
      print(args, { booking_id, host_id, state, closed_at: toTimestampOrNull(closed_at) }, record)
    },
  })
}

const reply = command({
  meta: { name: 'reply', description: 'Answer the host in the name of the guest' },
  examples: ['partnerctl conversations reply 5002 --text "We arrive around 18:00"'],
  args: {
    booking_id: { type: 'positional', required: true, description: 'Id of the booking' },
    text: { type: 'string', required: true, description: 'Text of the message' },
  },
  async run({ args }) {
    const id = parseId(args.booking_id)
    const text = readText(args.text)
    const message = await administer(
      'conversations reply',
      `booking ${id}`,
      async (act) => {
        const booking = await findBookingOfAnyHost(act.db, id)
        const record = (session: Session) => act.record(session, booking.host_id)
        return replyAsGuest(act, async () => booking, text, record)
      },
      { record: 'caller' },
    )
    print(args, serializeMessageItem(message), ({ is_seen, ...item }) => record(item))
  },
})

/** @throws UsageError for text that the service would reject */
function readText(text: string): string {
  const body = { message: { text } }
  const [problem] = findProblems(MessageCreate, body)
  if (problem) throw new UsageError(problem.message.replace('"message.text"', 'Option --text'))
  return normalize(MessageCreate, body).message.text
}

export const conversations = defineCommand({
  subCommands: {
    reply,
    close: changing('close', 'Close the conversation of a booking: no more messages can be sent'),
    reopen: changing('reopen', 'Reopen the conversation of a booking'),
  },
})
