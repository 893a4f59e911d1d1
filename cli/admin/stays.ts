import { defineCommand } from 'citty'
import { bookingTarget } from '../../src/access/audit/store.ts'
import { toTimestamp, toTimestampOrNull } from '../../src/core/clock.ts'
import { toVersion } from '../../src/host-clock/format.ts'
import { normalize } from '../../src/http/input/schema/normalize.ts'
import { findProblems } from '../../src/http/input/schema/problems.ts'
import { listingStatuses } from '../../src/inventory/listings/schema.ts'
import { findListingOfAnyHost, setListingStatus } from '../../src/inventory/listings/store.ts'
import type { Session } from '../../src/platform/mongo/connection.ts'
import type { StoredBooking } from '../../src/stays/bookings/model.ts'
import { bookingReference } from '../../src/stays/bookings/serialize.ts'
import { toStatusWord } from '../../src/stays/bookings/status.ts'
import { findBookingOfAnyHost } from '../../src/stays/bookings/store.ts'
import { transitionBooking } from '../../src/stays/bookings/transitions.ts'
import { replyAsGuest, setConversationClosed } from '../../src/stays/messages/conversation.ts'
import { MessageCreate } from '../../src/stays/messages/schema.ts'
import { serializeMessageItem } from '../../src/stays/messages/serialize.ts'
import { command, option, positional, requiredOption } from '../shared/command.ts'
import { UsageError } from '../shared/errors.ts'
import { note, print, record } from '../shared/output.ts'
import { oneOf, parseId } from '../shared/values.ts'
import { type Act, administer, confirm, readReason, reasonArgument, yesArgument } from './administer.ts'

const idArgument = positional('Id of the booking')

const whyArgument = option('Reason, for the audit log; stored with a cancelled booking')

function toBookingRecord(booking: StoredBooking) {
  return {
    booking_id: booking.id,
    booking_reference: bookingReference(booking.id),
    host_id: booking.owner_id,
    status: toStatusWord(booking.status),
    cancellation_reason: booking.cancellation_reason,
    version: toVersion(booking.updated_at),
  }
}

/** Defines a command that moves a booking to another status. */
function bookingCommand(name: 'confirm' | 'cancel', description: string, example: string) {
  return command({
    meta: { name, description },
    examples: [example],
    args: { id: idArgument, reason: whyArgument, ...(name === 'cancel' ? yesArgument : {}) },
    async run({ args }) {
      const id = parseId(args.id)
      const reason = readReason(args.reason)
      if (name === 'cancel') await confirm(args, `Booking ${id} will be cancelled.`)
      const move = async (act: Act) => {
        const booking = await findBookingOfAnyHost(act.db, id)
        const to = name === 'cancel' ? 'cancelled' : 'confirmed'
        return transitionBooking(act, booking, { to, reason }, (session, kept) =>
          act.record(session, booking.owner_id, kept),
        )
      }
      const moved = await administer(`bookings ${name}`, bookingTarget(id), move, { record: 'caller' })
      print(args, toBookingRecord(moved), record)
    },
  })
}

function conversationCommand(name: 'close' | 'reopen', description: string) {
  return command({
    meta: { name, description },
    examples: [`partnerctl conversations ${name} 5002`],
    args: {
      booking_id: positional('Id of the booking'),
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
          return act.inAuditedTransaction(
            booking.owner_id,
            () => setConversationClosed(act, booking, name === 'close'),
            ({ erased_at }) => !erased_at,
          )
        },
        { record: 'caller', reason },
      )
      const { booking_id, owner_id: host_id, closed_at } = conversation
      const state = closed_at ? 'closed' : 'open'
      print(args, { booking_id, host_id, state, closed_at: toTimestampOrNull(closed_at) }, record)
    },
  })
}

const reply = command({
  meta: { name: 'reply', description: "Reply to the host on the guest's behalf" },
  examples: ['partnerctl conversations reply 5002 --text "We arrive around 18:00"'],
  args: {
    booking_id: positional('Id of the booking'),
    text: requiredOption('Text of the message'),
  },
  async run({ args }) {
    const id = parseId(args.booking_id)
    const text = readMessage(args.text)
    const { message, isDuplicate } = await administer(
      'conversations reply',
      `booking ${id}`,
      async (act) => {
        const booking = await findBookingOfAnyHost(act.db, id)
        const record = (session: Session) => act.record(session, booking.owner_id)
        return replyAsGuest(act, async () => booking, text, record)
      },
      { record: 'caller' },
    )
    print(args, serializeMessageItem(message), ({ is_seen, ...item }) => record(item))
    if (isDuplicate) note('The conversation already ended with this message, so it was not sent again')
  },
})

/** @throws UsageError for text that the service would reject */
function readMessage(text: string): string {
  const body = { message: { text } }
  const [problem] = findProblems(MessageCreate, body)
  if (problem) throw new UsageError(problem.message.replace('"message.text"', 'Option --text'))
  return normalize(MessageCreate, body).message.text
}

const status = command({
  meta: { name: 'status', description: 'Move a listing to another status' },
  examples: ['partnerctl listings status 2001 published'],
  args: {
    id: positional('Id of the listing'),
    status: { type: 'positional', required: true, description: listingStatuses.join(', ') },
    ...reasonArgument,
  },
  async run({ args }) {
    const id = parseId(args.id)
    const wanted = oneOf(listingStatuses, args.status)
    const reason = readReason(args.reason)
    const listing = await administer(
      'listings status',
      `listing ${id} ${wanted}`,
      async (act) => {
        const { owner_id } = await findListingOfAnyHost(act.db, id)
        return act.inAuditedTransaction(owner_id, () => setListingStatus(act, { id, owner_id }, wanted))
      },
      { record: 'caller', reason },
    )
    const { owner_id: host_id, listing_status, content, updated_at } = listing
    const shown = { id, host_id, name: content.name, listing_status, updated_at: toTimestamp(updated_at) }
    print(args, shown, record)
  },
})

export const bookings = defineCommand({
  subCommands: {
    confirm: bookingCommand('confirm', 'Confirm a pending booking', 'partnerctl bookings confirm 5002'),
    cancel: bookingCommand(
      'cancel',
      'Cancel a pending or confirmed booking',
      'partnerctl bookings cancel 5002 --reason "Guest fell ill"',
    ),
  },
})
export const conversations = defineCommand({
  subCommands: {
    reply,
    close: conversationCommand('close', 'Close the conversation of a booking: no more messages can be sent'),
    reopen: conversationCommand('reopen', 'Reopen the conversation of a booking'),
  },
})
export const listings = defineCommand({ subCommands: { status } })
