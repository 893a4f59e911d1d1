import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The files that take longest, roughly the slowest first. A long file that begins last would keep one worker busy while
 * the others have nothing left to do. Every run prints its slowest files, so that one that has become slow is noticed.
 */
const longest = [
  'test/soak/certify/certify.test.ts',
  'test/soak/observability/alerts.test.ts',
  'test/soak/server/idle.test.ts',
  'test/soak/certify/guide-product.test.ts',
  'test/soak/docs/page.test.ts',
  'test/soak/guests/erasure.test.ts',
  'test/soak/security/refusals.test.ts',
  'test/soak/webhooks/sending.test.ts',
  'test/soak/faults/rolling-restart.test.ts',
  'test/soak/digest/digest.test.ts',
  'test/soak/faults/restore-drill.test.ts',
  'test/soak/guests/canaries.test.ts',
  'test/soak/client/kills.test.ts',
  'test/soak/console/console.test.ts',
  'test/soak/faults/restore.test.ts',
  'test/soak/faults/failover.test.ts',
  'test/soak/faults/workers.test.ts',
  'test/soak/faults/step-down.test.ts',
  'test/soak/faults/waits.test.ts',
  'test/soak/server/traces.test.ts',
  'test/pages/console/console.test.ts',
  'test/certification/certification.test.ts',
  'test/cli/output.test.ts',
  'test/changes/feed/wait.test.ts',
  'test/pages/guide/pages.test.ts',
  'test/http/every-route.test.ts',
  'test/client/client.test.ts',
  'test/process/main.test.ts',
  'test/process/traces.test.ts',
]

/** Starts the files that take longest first. A new checkout has no times of an earlier run to sort by. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => groupOf(one) - groupOf(other) || rankOf(one) - rankOf(other))
  }
}

/** Files of different groups never run at the same time. */
function groupOf({ project }: TestSpecification): number {
  return project.config.sequence.groupOrder
}

function rankOf({ moduleId, project }: TestSpecification): number {
  const rank = longest.indexOf(relative(project.config.root, moduleId))
  return rank === -1 ? longest.length : rank
}
