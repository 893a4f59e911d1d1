import type { AppContext } from '../../http/context.ts'
import type { JobHandler, Topics } from '../../platform/outbox/outbox.ts'

/** Topic of the event that creating a user fires (contract, Events). */
export const userCreated = 'UserCreated'

/** The outbox topics of users. */
export function userJobs({ config }: Pick<AppContext, 'config'>): Topics {
  return { [userCreated]: { run: tagManagerTracking(config.tagManagerUrl) } }
}

const timeoutMilliseconds = 5000

/** The subscriber of `UserCreated`: posts the event to the tag manager; does nothing when none is configured. */
function tagManagerTracking(url: string | undefined): JobHandler {
  return async (event) => {
    if (!url) return
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ event: userCreated, ...event }),
      signal: AbortSignal.timeout(timeoutMilliseconds),
    })
    if (!response.ok) throw new Error(`The tag manager responded ${response.status}`)
  }
}
