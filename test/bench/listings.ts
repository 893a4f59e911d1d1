import { listListings } from '../../src/listings/list-store.ts'
import { fillPortfolio } from '../support/portfolio.ts'
import { medianMilliseconds, noted, type Row, times, withDatabase } from './measure.ts'

/** First and last page of a host with 20,000 listings, compared with a host of 200. */
export function listingsBench(): Promise<Row[]> {
  return withDatabase(async ({ db }) => {
    await fillPortfolio(db, 1, 20_000, 1)
    await fillPortfolio(db, 2, 200, 30_001)
    const page = (hostId: number, page: number) => () => listListings(db, hostId, {}, { page, perPage: 50 })
    const { small, first, last } = await medianMilliseconds(
      { small: page(2, 1), first: page(1, 1), last: page(1, 400) },
      60,
    )
    return [
      noted('listings: first page of 20,000 against that of 200', first / small, times(small, first)),
      noted('listings: last page of 20,000 against the first', last / first, times(first, last)),
    ]
  })
}
