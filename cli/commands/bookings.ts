import { defineCommand } from 'citty'
import { type Booking, toStatusWord } from '../../src/bookings/model.ts'
import { moveBooking } from '../../src/bookings/moves.ts'
import { findBookingOfAnyHost } from '../../src/bookings/store.ts'
import { bookingReference } from '../../src/bookings/wire.ts'
import { toVersion } from '../../src/feed/version.ts'
import { command } from '../command.ts'
import { confirm as ask, yesArgument } from '../confirm.ts'
import { administer } from '../database.ts'
import { print, record } from '../output.ts'
import { parseId } from '../values.ts'

const id = { type: 'positional', required: true, description: 'Id of the booking' } as const

function toRecord(booking: Booking) {
  return {
    booking_id: booking.id,
    booking_reference: bookingReference(booking.id),
    host_id: booking.host_id,
    status: toStatusWord(booking.status),
    cancellation_reason: booking.cancellation_reason,
    version: toVersion(booking.updated_at),
  }
}

const confirm = command({
  meta: { name: 'confirm', description: 'Confirm a pending booking' },
  args: { id },
  async run({ args }) {
    const bookingId = parseId(args.id)
    await administer('bookings confirm', `booking ${bookingId}`, async (on) => {
      const booking = await moveBooking(on, () => findBookingOfAnyHost(on, bookingId), 'confirmed')
      print(args, toRecord(booking), record)
    })
  },
})

const cancel = command({
  meta: { name: 'cancel', description: 'Cancel a pending or confirmed booking' },
  args: { id, reason: { type: 'string', description: 'Why, for the record' }, ...yesArgument },
  async run({ args }) {
    const bookingId = parseId(args.id)
    await ask(args, `Booking ${bookingId} will be cancelled.`)
    await administer('bookings cancel', `booking ${bookingId}`, async (on) => {
      const find = () => findBookingOfAnyHost(on, bookingId)
      print(args, toRecord(await moveBooking(on, find, 'cancelled', args.reason ?? null)), record)
    })
  },
})

export const bookings = defineCommand({
  meta: { name: 'bookings', description: 'Confirm and cancel bookings (administrator)' },
  subCommands: { confirm, cancel },
})
