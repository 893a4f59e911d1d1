import { keepFromProxy } from '../../core/proxy.ts'
import type { AppContext } from '../../http/context.ts'
import type { JobHandler, Topics } from '../../platform/outbox/outbox.ts'

/** Topic of the event fired when a user is created (contract, Events). */
export const userCreated = 'UserCreated'

/** Returns the outbox topics for users. */
export function userJobs({ config }: Pick<AppContext, 'config'>): Topics {
  return { [userCreated]: tagManagerTracking(config.tagManagerUrl) }
}

const timeoutMilliseconds = 5000

/** Returns the `UserCreated` subscriber, which posts the event to the tag manager if one is configured. */
function tagManagerTracking(url: string | undefined): JobHandler {
  if (url) keepFromProxy(url)
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
