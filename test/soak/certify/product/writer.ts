import type { NextAction } from './habits.ts'
import { Failed, patiently, type Site, whole } from './site.ts'

const day = 86_400_000
const addDays = (date: string, days: number) =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * day).toISOString().slice(0, 10)

function nightsOf(place: object, first: string, last: string): object[] {
  const nights: object[] = []
  for (let date = first; date <= last; date = addDays(date, 1))
    nights.push({ ...place, available: 2, start_date: date, end_date: date })
  return nights
}

/** Pushes units and creates bookings. */
export class Writer {
  private hasForgotten = false
  /** The units of the first push. */
  private year: object[] = []
  private readonly asked: object[] = []
  private keys = 0

  constructor(private readonly site: Site) {}

  /** Does what a person who uses the product would do. */
  async act(asked: NextAction): Promise<void> {
    if (asked.action === 'push_all') await this.pushAll(asked)
    if (asked.action === 'push_change') await this.pushChange(asked)
    if (asked.action === 'book') await this.book(asked)
    if (asked.action === 'cancel')
      await patiently(() => this.site.send('POST', `/bookings/${asked.booking_id}/cancel`, {}, whole))
  }

  private async pushAll({ room_types, start_date, end_date }: NextAction): Promise<void> {
    const last = this.site.is('pushes-half-a-year')
      ? addDays(start_date as string, 180)
      : (end_date as string)
    const middle = addDays(start_date as string, 100)
    const data = (room_types ?? []).flatMap((place) => {
      if (this.site.is('pushes-night-by-night')) return nightsOf(place, start_date as string, last)
      return [
        { ...place, available: 2, start_date, end_date: addDays(middle, -1) },
        { ...place, available: 1, start_date: middle, end_date: last },
      ]
    })
    this.year = data
    for (let start = 0; start < data.length; start += 500) await this.push(data.slice(start, start + 500))
  }

  private async pushChange({
    listing_id,
    room_type_id,
    start_date,
    end_date,
    available,
    as_of,
  }: NextAction): Promise<void> {
    const informed = this.site.is('sells-again') ? {} : { as_of }
    const item = { listing_id, room_type_id, start_date, end_date, available, ...informed }
    // Acts like a second worker that still has the previous counts.
    const [before] = this.asked
    if (this.site.is('overwrites-units') && before) await this.push([{ ...before, available: 11 }])
    // A refused push is not repeated.
    if ((available ?? 0) < 1000) this.asked.push(item)
    if (this.site.is('pushes-everything-again') && (available ?? 0) < 1000)
      return this.push([...this.year, ...this.asked])
    await this.push([item])
  }

  private async push(data: object[]): Promise<void> {
    const path = '/integrations/provider_one/availability'
    for (let tries = 0; tries < 40; tries += 1)
      try {
        const { status } = await this.site.send('POST', path, { data }, whole)
        if (status === 422 && this.site.is('repeats-422') && tries < 3) await Bun.sleep(300)
        else return
      } catch (error) {
        await Bun.sleep(this.pauseAfter(error))
      }
  }

  /** Returns the milliseconds to wait after a failed push. */
  private pauseAfter(error: unknown): number {
    if (!(error instanceof Failed)) return 300
    if (this.site.is('pushes-through-429')) return 150
    return error.retryAfter > 0 ? error.retryAfter * 1000 : 300
  }

  private async book({ listing_id, room_type_id, checkin_at, checkout_at }: NextAction): Promise<void> {
    if (this.site.is('gives-up-when-unavailable') && this.hasForgotten) return
    const body = { user_id: 1001, listing_id, room_type_id, checkin_at, checkout_at }
    this.keys += 1
    let key = `${this.site.key.slice(-6)}-${this.keys}`
    await patiently(async () => {
      if (this.site.is('new-key-each-try')) key = crypto.randomUUID()
      const headers = this.site.is('no-key') ? undefined : { 'idempotency-key': key }
      const sent = await this.site.send('POST', '/bookings', body, {
        ...whole,
        ...(headers ? { headers } : {}),
      })
      if (sent.status === 422 && this.site.is('repeats-refused-booking'))
        for (let again = 0; again < 3; again += 1) {
          await Bun.sleep(300)
          await this.site.send('POST', '/bookings', body, { ...whole, ...(headers ? { headers } : {}) })
        }
      this.hasForgotten = sent.status === 422
      return sent
    })
  }
}
