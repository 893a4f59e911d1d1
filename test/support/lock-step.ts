import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import type { CommandStartedEvent } from 'mongodb'
import type { Db } from '../../src/platform/mongo/connection.ts'
import type { Gate, PassingCommand } from './delaying-proxy.ts'

/** What a request asked of its servers, in steps: a step's commands were all sent before the first of their answers. */
export interface Steps<T> {
  result: T
  /** The names of the commands, such as `find listings` or `evalsha`. */
  steps: string[][]
  /** The number of commands to MongoDB. */
  commands: number
  /** The longest time for which an answer of Redis was held, in milliseconds. */
  longestHoldOfRedis: number
}

/** How long nothing must happen in this process until a step is complete. */
const quietMilliseconds = 5
const loopTurns = 3

/**
 * Lets a request proceed in steps, to count its round trips in sequence. Proxies before MongoDB and Redis hold its
 * answers until the servers have answered every command and the service, which runs in this process, sends no more. Then
 * all answers pass at once, which makes one step.
 *
 * Times do not matter: however slow a server or the machine is, a step waits for every answer. Only a command that the
 * service sends much later than the others of its step is taken for one of the next step, so a request is counted
 * several times, and the fewest steps are right.
 *
 * Commands to MongoDB that the request has not caused pass at once, because the service also works in the background.
 */
export class LockStep {
  private readonly running = new AsyncLocalStorage<CurrentRequest>()
  private current: CurrentRequest | undefined
  /** The database requests of the current request, by their ids. */
  private readonly own = new Set<number>()

  /** The gate of the proxy before MongoDB. */
  readonly mongodb: Gate = {
    onCommand: (command) => {
      if (this.own.has(command.requestId)) this.current?.sent(command)
    },
    hold: async (command) => {
      if (command && this.own.has(command.requestId)) await this.current?.answered(command)
    },
  }

  /** The gate of the proxy before Redis, which nothing uses in the background but connections and their checks. */
  readonly redis: Gate = {
    onCommand: (command) => {
      if (!ofConnections.has(command.name)) this.current?.sent(command)
    },
    hold: async (command) => {
      if (!command || ofConnections.has(command.name) || !this.current) return
      const start = performance.now()
      await this.current.answered(command)
      this.current?.noteHoldOfRedis(performance.now() - start)
    },
  }

  /** Learns which commands a request causes from the driver of the service in this process. */
  listenTo(db: Db): void {
    db.getClient().on('commandStarted', ({ requestId, commandName }: CommandStartedEvent) => {
      const request = this.running.getStore()
      if (!request || request !== this.current || commandName === 'getMore') return
      this.own.add(requestId)
      request.commands += 1
    })
  }

  /** Sends one request; only one at a time. */
  async run<T>(send: () => Promise<T>): Promise<Steps<T>> {
    const request = new CurrentRequest()
    this.current = request
    try {
      const result = await this.running.run(request, send)
      return {
        result,
        steps: request.steps,
        commands: request.commands,
        longestHoldOfRedis: request.longestHoldOfRedis,
      }
    } finally {
      this.current = undefined
      request.end()
      this.own.clear()
    }
  }
}

const ofConnections = new Set(['ping', 'info', 'client', 'select', 'subscribe', 'unsubscribe', 'script'])

class CurrentRequest {
  readonly steps: string[][] = []
  commands = 0
  longestHoldOfRedis = 0
  private readonly unanswered = new Set<PassingCommand>()
  private held: (() => void)[] = []
  /** The names of the commands since the last step. */
  private names: string[] = []
  private isSettling = false
  private hasEnded = false
  /** Counts what happens, to notice when nothing does. */
  private events = 0

  sent(command: PassingCommand): void {
    this.events += 1
    this.unanswered.add(command)
    this.names.push(`${command.name} ${command.collection}`.trim())
  }

  /** Resolves at the end of the step. */
  async answered(command: PassingCommand): Promise<void> {
    if (this.hasEnded || !this.unanswered.delete(command)) return
    this.events += 1
    const passed = new Promise<void>((resolve) => this.held.push(resolve))
    if (!this.isSettling) void this.settle()
    await passed
  }

  noteHoldOfRedis(milliseconds: number): void {
    this.longestHoldOfRedis = Math.max(this.longestHoldOfRedis, milliseconds)
  }

  /** Lets everything pass that is still held, such as the answer to a command that the response did not wait for. */
  end(): void {
    this.hasEnded = true
    this.release()
  }

  /** Waits until nothing happens and no answer is missing, then ends the step. */
  private async settle(): Promise<void> {
    this.isSettling = true
    let seen = -1
    while (seen !== this.events || this.unanswered.size > 0) {
      seen = this.events
      await Bun.sleep(quietMilliseconds)
      // After a pause of the whole process, its timers may be due before it has read what has arrived.
      for (let turn = 0; turn < loopTurns; turn += 1) await setImmediate()
    }
    this.isSettling = false
    if (this.hasEnded) return
    this.steps.push(this.names)
    this.names = []
    this.release()
  }

  private release(): void {
    for (const pass of this.held.splice(0)) pass()
  }
}
