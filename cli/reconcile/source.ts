import { Type } from '@sinclair/typebox'
import type { PartnerClient, SendOptions } from '../client/client.ts'
import { ChecksFailedError } from '../findings.ts'
import { bookingFeed } from '../poll/feeds.ts'
import { type StopSignal, withRetries } from '../poll/patience.ts'
import type { BookingHere, DigestSource, HashedParts } from './compare.ts'

const Parts = Type.Object({
  digest: Type.Object({
    version: Type.Union([Type.String(), Type.Null()]),
    sha256: Type.String(),
    parts: Type.Array(Type.Object({ key: Type.String(), sha256: Type.String() })),
  }),
})
const Day = Type.Object({
  digest: Type.Object({
    bookings: Type.Array(
      Type.Object({
        booking_id: Type.Integer(),
        version: Type.String(),
        status: Type.String(),
        checkin_at: Type.String(),
        checkout_at: Type.String(),
      }),
    ),
    next_after: Type.Union([Type.Integer(), Type.Null()]),
  }),
})

/**
 * Returns a source of the service's digests that waits out temporary failures. A request may have to wait until another
 * digest request with the same key has finished.
 */
export function digestsOf(
  client: PartnerClient,
  listing_id: string | undefined,
  stop: StopSignal,
): DigestSource {
  const ask = async <T>(query: SendOptions['query'], expects: SendOptions['expects']): Promise<T> => {
    const path = `${bookingFeed.path}/digest`
    const options = { query: { listing_id, ...query }, ...(expects ? { expects } : {}), signal: stop.signal }
    const answer = await withRetries(() => client.send<{ digest: T }>('GET', path, options), stop)
    if (answer === null) throw new ChecksFailedError('Stopped before everything was compared')
    source.requests += 1
    return answer.data.digest
  }
  const source: DigestSource = {
    requests: 0,
    whole: () => ask<HashedParts>({}, Parts),
    month: (month) => ask<HashedParts>({ month }, Parts),
    async day(day) {
      const bookings: BookingHere[] = []
      for (let after: number | null | undefined; after !== null; ) {
        const page: { bookings: BookingHere[]; next_after: number | null } = await ask({ day, after }, Day)
        bookings.push(...page.bookings)
        after = page.next_after
      }
      return bookings
    },
  }
  return source
}
