import { models as accessModels } from '../access/models.ts'
import { models as certificationModels } from '../certification/models.ts'
import { models as changesModels } from '../changes/models.ts'
import { models as hostClockModels } from '../host-clock/models.ts'
import type { AppContext } from '../http/context.ts'
import { models as httpModels } from '../http/models.ts'
import { availabilityJobs } from '../inventory/availability/compaction.ts'
import { models as inventoryModels } from '../inventory/models.ts'
import { models as pagesModels } from '../pages/models.ts'
import { models as platformModels } from '../platform/models.ts'
import type { Release } from '../platform/mongo/server/schema-version.ts'
import type { Topics } from '../platform/outbox/outbox.ts'
import { models as sandboxModels } from '../sandbox/models.ts'
import { models as staysModels } from '../stays/models.ts'
import { userJobs } from '../stays/users/jobs.ts'
import { migrations } from './migrations.ts'

/** Models of all collections. The collections and their indexes are created before the first transaction. */
export const models = [
  ...accessModels,
  ...certificationModels,
  ...changesModels,
  ...httpModels,
  ...inventoryModels,
  ...pagesModels,
  ...platformModels,
  ...sandboxModels,
  ...staysModels,
  ...hostClockModels,
]

/** The collections and migrations of this release. */
export const release: Release = { models, migrations }

/** Returns all outbox topics that the features declare. */
export function outboxTopics(context: Pick<AppContext, 'db' | 'clock' | 'config'>): Topics {
  return { ...userJobs(context), ...availabilityJobs(context) }
}
