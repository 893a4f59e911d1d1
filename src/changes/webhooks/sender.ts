import { findDue } from './due-store.ts'
import { type Endings, endingsOf } from './endings.ts'
import { Endpoint, type EndpointContext, lostMilliseconds } from './endpoint.ts'
import type { WebhookId } from './store.ts'

/** Endpoints that are sent to at once; the others wait for the first at which nothing is due any more. */
const maxEndpoints = 1000

/** Sends what is due, endpoint by endpoint, so that a slow one keeps nothing waiting but its own hints. */
export class HintSender {
  private readonly busy = new Map<string, Endpoint>()
  /** Until then the process that did this before may have tries in flight. */
  private inheritsUntil = new Date(0)
  private readonly endings: Endings

  /** @param mayWork false as soon as no try may begin any more */
  constructor(
    private readonly app: EndpointContext,
    private readonly mayWork: () => boolean,
  ) {
    this.endings = endingsOf(app.db)
  }

  /** The endpoints at which something is due, as many as there is room for. */
  async findDue(): Promise<WebhookId[]> {
    const room = maxEndpoints - this.busy.size
    return room > 0 ? findDue(this.app.db, this.app.clock(), room) : []
  }

  /** Sends what is due at an endpoint; one that is being sent to looks again. */
  send({ host_id, id }: WebhookId): void {
    const name = `${host_id}/${id}`
    this.busy.get(name)?.lookAgain()
    // One that finds no room stays due.
    if (this.busy.has(name) || this.busy.size >= maxEndpoints || !this.mayWork()) return
    const mayInherit = () => this.app.clock() < this.inheritsUntil
    const endpoint = new Endpoint(this.app, { host_id, id }, this.endings, this.mayWork, mayInherit)
    this.busy.set(name, endpoint)
    endpoint.ended.finally(() => {
      this.busy.delete(name)
      // It came too late for its last look.
      if (endpoint.mustLook) this.send({ host_id, id })
    })
  }

  /** From now on another process may have begun tries that have not ended. */
  inherit(): void {
    this.inheritsUntil = new Date(this.app.clock().getTime() + lostMilliseconds)
  }

  /** Resolves when all tries have ended; call it when no more may begin. */
  async ended(): Promise<void> {
    for (const endpoint of this.busy.values()) endpoint.lookAgain()
    await Promise.all([...this.busy.values()].map(({ ended }) => ended))
  }
}
