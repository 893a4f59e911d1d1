import type { AppContext } from '../context.ts'
import type { NoteOutcome, Visit } from '../request.ts'

/** Refusals that say nothing about what was sent: they depend on the key's state, on other writers, or on the pace. */
const passingRefusals = [401, 409, 429]

/** A write whose end is to be noted. */
interface NotedWrite {
  operationId: string
  keyId: number
  hostId: number
  /** Time of arrival. */
  at: Date
  visit: Visit | undefined
}

/**
 * Returns a function that notes how a write ended, for `writes_refused` (decisions §29). A write to a sandbox that does
 * not exist yet is not noted.
 */
export function outcomeNoter({ environment, clock, activity }: AppContext, write: NotedWrite): NoteOutcome {
  const { operationId, keyId, hostId, visit } = write
  return ({ status, isReplayed }) => {
    const ownerId = environment.name === 'sandbox' ? visit?.ownerId : hostId
    if (ownerId === undefined) return
    const hasSucceeded = isReplayed || (status >= 200 && status < 400)
    const isRefused = !hasSucceeded && status >= 400 && status < 500 && !passingRefusals.includes(status)
    if (!hasSucceeded && !isRefused) return
    // A sandbox's clock may be ahead.
    const lead = clock(ownerId).getTime() - clock().getTime()
    activity.noteWrite({ keyId, ownerId }, operationId, {
      isRefused,
      at: new Date(write.at.getTime() + lead),
    })
  }
}
