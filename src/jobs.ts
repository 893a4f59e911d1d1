import { compactAvailabilityTopic, compactionWorker } from './availability/compaction.ts'
import type { Deps } from './deps.ts'
import type { Db } from './infra/mongo.ts'
import type { JobHandler } from './infra/outbox.ts'
import { dropRates, ratesWorker } from './rates/apply.ts'
import { applyRatesTopic } from './rates/store.ts'
import { userCreated } from './users/store.ts'
import { tagManagerTracking } from './users/tag-manager.ts'

/** What the outbox runs, by topic. */
export function jobHandlers({ db, clock }: Pick<Deps, 'db' | 'clock'>, tagManagerUrl: string | undefined) {
  return {
    [userCreated]: tagManagerTracking(tagManagerUrl),
    [applyRatesTopic]: ratesWorker({ db, clock }),
    [compactAvailabilityTopic]: compactionWorker({ db }),
  } satisfies Record<string, JobHandler>
}

/** What goes with a job that is given up, by topic. */
export function jobDrops(db: Db): Record<string, JobHandler> {
  return {
    [applyRatesTopic]: ({ host_id, sequence }) => dropRates(db, host_id as number, sequence as number),
  }
}
