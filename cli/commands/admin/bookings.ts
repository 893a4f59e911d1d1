import { defineCommand } from 'citty'
import { bookingTarget } from '../../../src/access/audit/store.ts'
import type { StoredBooking } from '../../../src/stays/bookings/model.ts'
import { bookingReference } from '../../../src/stays/bookings/serialize.ts'
import { toStatusWord } from '../../../src/stays/bookings/status.ts'
import { findBookingOfAnyHost } from '../../../src/stays/bookings/store.ts'
import { transitionBooking } from '../../../src/stays/bookings/transitions.ts'
import { toVersion } from '../../../src/versions/format.ts'
import { command } from '../../command.ts'
import { confirm as ask, yesArgument } from '../../confirm.ts'
import { print, record } from '../../output.ts'
import { parseId } from '../../values.ts'
import { type Act, administer, readReason } from './administer.ts'

const id = { type: 'positional', required: true, description: 'Id of the booking' } as const

const reason = {
  type: 'string',
  description: 'Reason, for the audit log; stored with a cancelled booking',
} as const

function toRecord(booking: StoredBooking) {
  return {
    booking_id: booking.id,
    booking_reference: bookingReference(booking.id),
    host_id: booking.host_id,
    status: toStatusWord(booking.status),
    cancellation_reason: booking.cancellation_reason,
    version: toVersion(booking.updated_at),
  }
}

function transition(
  action: string,
  bookingId: number,
  to: 'confirmed' | 'cancelled',
  why: string | null,
): Promise<StoredBooking> {
  const work = async (act: Act) => {
    const booking = await findBookingOfAnyHost(act.db, bookingId)
    return transitionBooking(act, booking, {
      to,
      reason: why,
      also: (session, kept) => act.record(session, booking.host_id, kept),
    })
  }
  return administer(action, bookingTarget(bookingId), work, { record: 'caller' })
}

const confirm = command({
  meta: { name: 'confirm', description: 'Confirm a pending booking' },
  examples: ['partnerctl bookings confirm 5002'],
  args: { id, reason },
  async run({ args }) {
    const bookingId = parseId(args.id)
    const why = readReason(args.reason)
    print(args, toRecord(await transition('bookings confirm', bookingId, 'confirmed', why)), record)
  },
})

const cancel = command({
  meta: { name: 'cancel', description: 'Cancel a pending or confirmed booking' },
  examples: ['partnerctl bookings cancel 5002 --reason "Guest fell ill"'],
  args: { id, reason, ...yesArgument },
  async run({ args }) {
    const bookingId = parseId(args.id)
    const why = readReason(args.reason)
    await ask(args, `Booking ${bookingId} will be cancelled.`)
    print(args, toRecord(await transition('bookings cancel', bookingId, 'cancelled', why)), record)
  },
})

export const bookings = defineCommand({
  subCommands: { confirm, cancel },
})
