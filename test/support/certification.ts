import { casesOf } from '../../src/certification/course/cases.ts'
import type { Certification } from '../../src/certification/model.ts'
import { insertCertification } from '../../src/certification/store.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { sandboxDatabase } from '../../src/sandbox/store.ts'

const inADay = () => new Date(Date.now() + 86_400_000)
let ids = 900_000 + Math.floor(Math.random() * 90_000) * 1000

/**
 * Stores a certification that has passed or that asks for the product's state. A real course takes minutes to get there
 * (`test/soak/certify`).
 */
export async function storeCertification(
  live: Db,
  { keyId, hostId }: { keyId: number; hostId: number },
  as: 'passed' | 'asked',
): Promise<number> {
  ids += 1
  const id = ids
  const isPassed = as === 'passed'
  const cases = casesOf(['feed']).map((name): Certification['cases'][0] => ({
    name,
    status: isPassed ? 'passed' : 'waiting',
    because: null,
    request_ids: [],
  }))
  const now = new Date()
  const step: Certification['step'] = {
    id: 'state',
    index: 0,
    state: 'played',
    progress: 0,
    memo: { after: now },
    after: 0,
    began_at: now,
    played_at: now,
    progress_at: now,
  }
  await insertCertification(sandboxDatabase(live), {
    _id: id,
    key_id: keyId,
    host_id: hostId,
    sandbox_id: null,
    seed: 'stored',
    profiles: ['feed'],
    cases,
    status: isPassed ? 'passed' : 'running',
    // The start is in the future, because a certification that still has no sandbox some time after its start fails.
    started_at: isPassed ? now : inADay(),
    ended_at: isPassed ? now : null,
    step: isPassed ? null : step,
    next: isPassed ? null : { action: 'upload_state', text: 'Upload the bookings that the product holds' },
    facts: {},
    secret: isPassed ? null : 'secret',
    requests: 0,
    revision: 0,
    sweep_at: null,
    expires_at: inADay(),
  })
  return id
}
