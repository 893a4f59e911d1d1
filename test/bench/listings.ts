import { listListings } from '../../src/listings/list.ts'
import { fillPortfolio } from '../support/portfolio.ts'
import { medianMilliseconds, withDatabase } from './measure.ts'

/** First and last page of a host with 20,000 listings, beside a host with 200. */
await withDatabase(async ({ db }) => {
  await fillPortfolio(db, 1, 20_000, 1)
  await fillPortfolio(db, 2, 200, 30_001)
  const page = (hostId: number, page: number) => () => listListings({ db }, hostId, {}, { page, perPage: 50 })
  const [small, first, last] = await medianMilliseconds([page(2, 1), page(1, 1), page(1, 400)], 60)
  console.table({
    'first page of 200': { milliseconds: small, ratio: 1 },
    'first page of 20,000': { milliseconds: first, ratio: (first as number) / (small as number) },
    'last page of 20,000': { milliseconds: last, ratio: (last as number) / (first as number) },
  })
})
