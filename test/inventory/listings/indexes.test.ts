import { beforeAll, describe, expect, test } from 'vitest'
import { listingQuery } from '../../../src/inventory/listings/list-store.ts'
import { listingModel } from '../../../src/inventory/listings/model.ts'
import { testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { fillPortfolio } from '../../support/portfolio.ts'

const service = await testApp({ MONGODB_URL: await ownDatabase() })
const { db } = service.live
const host = 1
const neighbour = 2
/** Twenty times what a query may examine, so a scan cannot be taken for a page. */
const listings = 1000

beforeAll(async () => {
  await fillPortfolio(db, host, listings, 1)
  await fillPortfolio(db, neighbour, listings, listings + 1)
})

interface Stage {
  stage: string
  inputStage?: Stage
  inputStages?: Stage[]
}

function stagesOf({ stage, inputStage, inputStages = [] }: Stage): string[] {
  const inputs = inputStage ? [inputStage, ...inputStages] : inputStages
  return [stage, ...inputs.flatMap(stagesOf)]
}

async function explain(query: Parameters<typeof listingQuery>[2], page = 1) {
  const cursor = listingQuery(db, host, query, { page, perPage: 50 })
  // biome-ignore lint/suspicious/noExplicitAny: the report of the server
  const report: any = await cursor.explain('executionStats')
  return { stages: stagesOf(report.queryPlanner.winningPlan), stats: report.executionStats }
}

const sorts = ['id', 'name', 'updated_at', 'listing_status'] as const
const queries = [
  {},
  ...sorts.map((sort) => ({ sort })),
  ...sorts.map((sort) => ({ sort, order: sort === 'updated_at' ? ('asc' as const) : ('desc' as const) })),
]

describe.each(queries)('a page of many listings with %j', (query) => {
  test('reads only its own rows, in the order of an index', async () => {
    const { stages, stats } = await explain(query)
    expect(stages).not.toContain('SORT')
    expect(stages).toContain('IXSCAN')
    expect(stats.nReturned).toBe(50)
    expect(stats.totalDocsExamined).toBeLessThanOrEqual(50)
    expect(stats.totalKeysExamined).toBeLessThanOrEqual(51)
  })

  test('is not sorted in memory when filtered by status', async () => {
    const { stages, stats } = await explain({ ...query, listing_status: ['draft', 'inactive'] })
    expect(stages).not.toContain('SORT')
    expect(stats.totalDocsExamined).toBeLessThanOrEqual(4 * 50)
  })
})

test('a listing search reads no rows of another host', async () => {
  const { stats } = await explain({ q: 'no such name' })
  expect(stats.totalDocsExamined).toBe(0)
  expect(stats.totalKeysExamined).toBeLessThanOrEqual(listings + 1)
  expect(await listingModel(db).countDocuments({ owner_id: neighbour })).toBe(listings)
})
