import type { CommandFailedEvent, CommandStartedEvent, CommandSucceededEvent } from 'mongodb'
import type { RateWindow } from '../../src/http/access.ts'
import type { AppContext } from '../../src/http/context.ts'
import type { RateDecision, RateLimiter } from '../../src/platform/rate-limiter.ts'
import { backgroundCollections } from './background-collections.ts'

/** The decision on one request, which the test makes. */
export interface HeldDecision {
  /** Resolves once the request waits for its decision. */
  asked: Promise<void>
  /** Lets the limiter decide. */
  decide(): void
  /** Makes the limiter refuse. */
  refuse(): void
}

/** Stands between a service and its limiter, so that a test says when the limiter decides on a key's request. */
export class HeldLimiter {
  /** Number of decisions that the service has made alone, because Redis was late, as it may be on a busy machine. */
  alone = 0
  private next: { asked: () => void; outcome: Promise<'decide' | 'refuse'> } | undefined

  constructor(limiter: RateLimiter) {
    const hit = limiter.hit.bind(limiter)
    const decide = async (...counted: Parameters<RateLimiter['hit']>) => {
      const decision = await hit(...counted)
      if (decision.revision === null) this.alone += 1
      return decision
    }
    limiter.hit = async (...counted) => {
      const { next } = this
      const isOfKey = !counted[0].startsWith('failures:')
      if (!next || !isOfKey) return decide(...counted)
      this.next = undefined
      next.asked()
      const outcome = await next.outcome
      const decision = await decide(...counted)
      return outcome === 'decide' ? decision : refused(decision)
    }
  }

  /** Holds the decision on the next request. */
  hold(): HeldDecision {
    const asked = Promise.withResolvers<void>()
    const outcome = Promise.withResolvers<'decide' | 'refuse'>()
    this.next = { asked: asked.resolve, outcome: outcome.promise }
    return {
      asked: asked.promise,
      decide: () => outcome.resolve('decide'),
      refuse: () => outcome.resolve('refuse'),
    }
  }
}

function refused(decision: RateDecision): RateDecision {
  return { ...decision, allowed: false, remaining: 0, waitMilliseconds: 1000 }
}

/**
 * Counts requests with a key until the service foresees that it will allow the next one. Redis may be late on a busy
 * machine, and then the service forgets what it has foreseen, and decides alone until Redis answers again.
 */
export async function acquaint(
  { authorizer }: Pick<AppContext, 'authorizer'>,
  key: string,
  window: RateWindow = 'default',
): Promise<void> {
  for (let tries = 0; tries < 3000; tries += 1) {
    if (tries > 30) await Bun.sleep(20)
    let isForeseen = false
    const foresee = () => {
      isForeseen = true
    }
    const { revision } = await authorizer.authorize(key, new Date(), async () => true, { window, foresee })
    if (isForeseen && revision !== null) return
  }
  throw new Error('The service never foresees that it will allow a request')
}

const background = new Set([...backgroundCollections, 'hosts', 'ical_turns'])

/** A command that a service has sent to its live database. */
export interface SentCommand {
  name: string
  collection: string
}

/** The commands that a service sends to its live database; it needs `monitorCommands=true`. */
export class SentCommands {
  private sent: SentCommand[] = []
  private readonly underWay = new Set<number>()
  private count = 0

  constructor({ db }: Pick<AppContext, 'db'>) {
    const client = db.getClient()
    client.on('commandStarted', (event: CommandStartedEvent) => {
      const { commandName: name, command, databaseName, requestId } = event
      if (name === 'getMore') return
      this.count += 1
      this.underWay.add(requestId)
      const collection = String(command[name])
      if (databaseName === db.name && !background.has(collection)) this.sent.push({ name, collection })
    })
    const end = ({ requestId }: CommandSucceededEvent | CommandFailedEvent) => this.underWay.delete(requestId)
    client.on('commandSucceeded', end)
    client.on('commandFailed', end)
  }

  /** Returns the commands since the last call. */
  take(): SentCommand[] {
    const { sent } = this
    this.sent = []
    return sent
  }

  /** Waits until the service sends no further command, as far as it waits for nothing else. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 10; quiet += 1) {
      const before = this.count
      await Bun.sleep(1)
      if (this.underWay.size > 0 || this.count !== before) quiet = 0
    }
  }
}

/** True for a command that changes nothing, or only takes ids, which leave gaps. */
export function isHarmless({ name, collection }: SentCommand): boolean {
  return (
    ['find', 'aggregate', 'count', 'distinct', 'killCursors'].includes(name) || collection === 'sequences'
  )
}
