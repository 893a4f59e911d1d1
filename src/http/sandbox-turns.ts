import { OriginTurns } from '../platform/outgoing/turns.ts'
import type { AppContext } from './context.ts'

/**
 * Maximum number of requests in any second from all sandboxes combined to one origin (decisions §21). Without this
 * limit, a partner could use the sandbox's scenarios and clock to flood someone else's server.
 */
export const maxPerSecondOfSandboxes = 10
/**
 * Maximum time that a request holds its turn after it has been sent. A receiver that keeps its connections open without
 * a response would otherwise hold up other sandboxes' requests to the same origin.
 */
const answerMilliseconds = 5000
/** Maximum time that a request of the API waits for a turn. */
export const maxWaitMilliseconds = 5000

/**
 * Returns the turns of the requests that sandboxes make the service send to others' servers, whatever their purpose.
 * All processes share them through Redis.
 *
 * @param requestMilliseconds time limit of such a request
 */
export function sandboxTurns(
  { rateLimiter }: Pick<AppContext, 'rateLimiter'>,
  requestMilliseconds: number,
): OriginTurns {
  return new OriginTurns(rateLimiter.slots, {
    name: 'sandboxes',
    limit: maxPerSecondOfSandboxes,
    requestMilliseconds,
    answerMilliseconds,
  })
}
