import { addDays, daysBetween, toDay } from '../../core/clock.ts'
import { withIds } from '../../platform/ids/id-source.ts'
import { inTransaction } from '../../platform/mongo/turns/transactions.ts'
import type { StoredBooking } from '../../stays/bookings/model.ts'
import { type StatusWord, toStatusWord } from '../../stays/bookings/status.ts'
import { moveBooking, transitionBooking } from '../../stays/bookings/transitions.ts'
import { replyAsGuest, setConversationClosed } from '../../stays/messages/conversation.ts'
import { findOpenConversation, findSuitableBooking } from './find.ts'
import type { ScenarioName } from './names.ts'
import type { ParameterName, Played, ScenarioParameters } from './schema.ts'
import { book, makeGuest, placeFor, placesFor, prepareStay, type Stage, setUnits, stayFrom } from './stage.ts'

/** A scenario that is ready to be played. */
export interface PreparedScenario {
  /** Maximum number of documents that the scenario adds to the sandbox. */
  documents: number
  play(): Promise<Partial<Omit<Played, 'scenario'>>>
}

/** An event that integrations encounter, played through the same functions that serve requests (decisions §22). */
export interface Scenario {
  name: ScenarioName
  /** The event, and the integration mistake that the scenario reveals. */
  summary: string
  parameters: ParameterName[]
  /** @throws DomainError `validation` at an invalid parameter; `conflict` if the sandbox lacks a prerequisite */
  prepare(stage: Stage, parameters: ScenarioParameters): Promise<PreparedScenario>
}

const documentsPerGuest = 2
const documentsPerBooking = 3

export const scenarios: readonly Scenario[] = [
  {
    name: 'guest-books',
    summary:
      'New guests book, each with a message. Finds an integration that knows only the bookings it made itself.',
    parameters: ['listing_id', 'count', 'checkin_at'],
    async prepare(stage, { listing_id, count, checkin_at }) {
      const stay = stayFrom(stage, checkin_at)
      const places = await placesFor(stage, listing_id, stay, count ?? 1)
      return {
        documents: places.length * (documentsPerGuest + documentsPerBooking),
        async play() {
          const bookings: StoredBooking[] = []
          const messages: Played['messages'] = []
          for (const place of places) {
            const id = await stage.app.ids('message')
            const message = { id, text: `Is the room still free? (${id})` }
            const made = await book(stage, { user_id: await makeGuest(stage), place, stay, message })
            bookings.push(made)
            messages.push({ id, booking_id: made.id })
          }
          return { ...summarizeBookings(bookings), messages }
        },
      }
    },
  },
  {
    name: 'host-confirms',
    summary: 'The host confirms a pending booking. Finds an integration that reads each booking only once.',
    parameters: ['booking_id', 'listing_id'],
    async prepare(stage, parameters) {
      const booking = await findSuitableBooking(stage, parameters, ['pending'])
      return { documents: 0, play: async () => summarizeBookings([await move(stage, booking, 'confirmed')]) }
    },
  },
  {
    name: 'guest-cancels',
    summary:
      'A guest cancels and gives a reason. Finds an integration that keeps the nights of a cancelled booking blocked.',
    parameters: ['booking_id', 'listing_id'],
    async prepare(stage, parameters) {
      const booking = await findSuitableBooking(stage, parameters, ['pending', 'confirmed'])
      return {
        documents: 0,
        play: async () =>
          summarizeBookings([await move(stage, booking, 'cancelled', 'The guest has other plans')]),
      }
    },
  },
  {
    name: 'cancelled-before-seen',
    summary:
      'A guest books and cancels before any poll can see the booking. Finds an integration that cannot handle the cancellation of a booking it never saw.',
    parameters: ['listing_id', 'checkin_at'],
    async prepare(stage, { listing_id, checkin_at }) {
      const { place, stay } = await placeFor(stage, listing_id, checkin_at)
      return {
        documents: documentsPerGuest + documentsPerBooking,
        async play() {
          const { app } = stage
          const booked = await prepareStay(stage, { user_id: await makeGuest(stage), place, stay })
          const cancelled = await inTransaction(app.db, booked.queue, async (session) => {
            const made = await booked.write(session)
            return moveBooking(app, session, made, { to: 'cancelled' })
          })
          return summarizeBookings([cancelled])
        },
      }
    },
  },
  {
    name: 'changed-within-a-second',
    summary:
      'A booking is created, confirmed and cancelled within a second. Finds an integration that waits for an intermediate status, or that polls from its own clock, which is now behind the version.',
    parameters: ['listing_id', 'checkin_at'],
    async prepare(stage, { listing_id, checkin_at }) {
      const { place, stay } = await placeFor(stage, listing_id, checkin_at)
      return {
        documents: documentsPerGuest + documentsPerBooking,
        async play() {
          const made = await book(stage, { user_id: await makeGuest(stage), place, stay })
          const confirmed = await move(stage, made, 'confirmed')
          return summarizeBookings([await move(stage, confirmed, 'cancelled')])
        },
      }
    },
  },
  {
    name: 'last-unit',
    summary:
      'A guest takes the last unit of some nights. Finds an integration that books from outdated availability, or repeats a refused booking.',
    parameters: ['listing_id', 'checkin_at'],
    async prepare(stage, { listing_id, checkin_at }) {
      const { place, stay } = await placeFor(stage, listing_id, checkin_at)
      return {
        documents: documentsPerGuest + documentsPerBooking,
        async play() {
          await setUnits(stage, place, stay, 1)
          const made = await book(stage, { user_id: await makeGuest(stage), place, stay })
          const nights = Array.from({ length: daysBetween(stay.checkin_at, stay.checkout_at) }, (_, index) =>
            addDays(stay.checkin_at, index),
          )
          return { ...summarizeBookings([made]), nights }
        },
      }
    },
  },
  {
    name: 'guest-writes',
    summary:
      'A guest writes messages. Finds an integration that misses messages sent between two polls, or stores one twice.',
    parameters: ['booking_id', 'listing_id', 'count'],
    async prepare(stage, { count, ...parameters }) {
      const booking = await findOpenConversation(stage, parameters)
      return {
        documents: (count ?? 1) + 1,
        async play() {
          const messages: Played['messages'] = []
          for (let written = 0; written < (count ?? 1); written += 1) {
            const id = await stage.app.ids('message')
            const context = { ...stage.app, ids: withIds(stage.app.ids, { message: id }) }
            await replyAsGuest(context, async () => booking, `When can I move in? (${id})`)
            messages.push({ id, booking_id: booking.id })
          }
          return { ...summarizeBookings([booking]), messages }
        },
      }
    },
  },
  {
    name: 'conversation-closes',
    summary:
      'A conversation is closed, so the next message to it is refused. Finds an integration that retries a refused message forever.',
    parameters: ['booking_id', 'listing_id'],
    async prepare(stage, parameters) {
      const booking = await findOpenConversation(stage, parameters)
      return {
        documents: 1,
        async play() {
          await setConversationClosed(stage.app, booking, true)
          return summarizeBookings([booking])
        },
      }
    },
  },
  {
    name: 'history',
    summary:
      'Past stays are created, the same number in each status. Finds an integration whose first sync reads only one page or drops past stays.',
    parameters: ['listing_id', 'count'],
    async prepare(stage, { listing_id, count }) {
      const today = toDay(stage.app.clock(stage.sandboxId))
      const stay = stayFrom(stage, addDays(today, -31))
      const statuses: StatusWord[] = ['pending', 'confirmed', 'cancelled']
      const places = await placesFor(stage, listing_id, stay, (count ?? 1) * statuses.length)
      return {
        documents: documentsPerGuest + places.length,
        async play() {
          const guest = await makeGuest(stage)
          const bookings: StoredBooking[] = []
          for (const [index, place] of places.entries()) {
            const made = await book(stage, { user_id: guest, place, stay })
            const status = statuses[index % statuses.length] as StatusWord
            bookings.push(status === 'pending' ? made : await move(stage, made, status))
          }
          return summarizeBookings(bookings)
        },
      }
    },
  },
]

function move({ app }: Stage, booking: StoredBooking, to: Exclude<StatusWord, 'pending'>, reason?: string) {
  return transitionBooking(app, booking, { to, ...(reason ? { reason } : {}) })
}

/**
 * Returns the bookings' ids and statuses, and the listing and room type ids, each null unless all bookings share it.
 */
function summarizeBookings(bookings: StoredBooking[]) {
  const only = (values: number[]) => (new Set(values).size === 1 ? (values[0] ?? null) : null)
  return {
    bookings: bookings.map(({ id, status }) => ({ booking_id: id, status: toStatusWord(status) })),
    listing_id: only(bookings.map(({ listing_id }) => listing_id)),
    room_type_id: only(bookings.map(({ room_type_id }) => room_type_id)),
  }
}
