import type { AppContext } from '../context.ts'
import type { Problem } from '../errors.ts'
import { applyRateJobs, failRateJob, findWaitingJob } from '../listings/rate-jobs-store.ts'
import { deleteWaitingRates, findRatesOfWrite } from '../listings/rates-store.ts'
import { findOwnedListings, hasRoomType } from '../listings/room-types-store.ts'
import { inTransaction } from '../platform/mongo/transactions.ts'
import { maximumProblems } from '../schema/problems.ts'

/**
 * Decides on the write at one place, unless that has been done: its rates, and those of all writes before it, become
 * visible together with its status; or it fails, where something it names is gone, and then none of its rates apply
 * and no other write is held up (decisions §20).
 */
export async function decideRates(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  hostId: number,
  sequence: number,
): Promise<void> {
  // Decisions take turns among themselves, and hold up no other write of the host.
  await inTransaction(db, `rates:${hostId}`, async (session) => {
    const job = await findWaitingJob(db, session, hostId, sequence)
    if (!job) return
    const items = await findRatesOfWrite(db, session, hostId, sequence)
    const { owned } = await findOwnedListings(db, hostId, items, session)
    const problems = items.flatMap((item): Problem[] => (hasRoomType(owned, item) ? [] : [goneProblem(item)]))
    if (problems.length === 0) return applyRateJobs(db, session, hostId, sequence, clock())
    await failRateJob(db, session, job, problems.slice(0, maximumProblems), clock())
    await deleteWaitingRates(db, hostId, sequence, session)
  })
}

function goneProblem({ index }: { index: number }): Problem {
  const path = `data.${index}.room_type_id`
  return { path, code: 'invalid', message: `"${path}" is not a room type of the listing any more` }
}
