import { findDue } from './due-store.ts'
import { type Endings, endingsOf } from './endings.ts'
import { Endpoint, type EndpointContext, lostMilliseconds } from './endpoint.ts'
import type { WebhookId } from './store.ts'

/** Maximum number of endpoints served concurrently; other endpoints wait until one has nothing due. */
const maxEndpoints = 1000

/** Sends due hints endpoint by endpoint, so that a slow endpoint delays only its own hints. */
export class HintSender {
  private readonly busy = new Map<string, Endpoint>()
  /** Time until which the previous lease holder may have attempts in flight. */
  private inheritsUntil = new Date(0)
  private readonly endings: Endings

  /** @param mayWork returns false once no more attempts may begin */
  constructor(
    private readonly app: EndpointContext,
    private readonly mayWork: () => boolean,
  ) {
    this.endings = endingsOf(app.db)
  }

  /** Returns as many due endpoints as there is room for. */
  async findDue(): Promise<WebhookId[]> {
    const room = maxEndpoints - this.busy.size
    return room > 0 ? findDue(this.app.db, this.app.clock(), room) : []
  }

  /** Sends an endpoint's due hints; an endpoint that is already being served looks again. */
  send({ host_id, id }: WebhookId): void {
    const name = `${host_id}/${id}`
    this.busy.get(name)?.lookAgain()
    // An endpoint that finds no room stays due.
    if (this.busy.has(name) || this.busy.size >= maxEndpoints || !this.mayWork()) return
    const mayInherit = () => this.app.clock() < this.inheritsUntil
    const endpoint = new Endpoint(this.app, { host_id, id }, this.endings, this.mayWork, mayInherit)
    this.busy.set(name, endpoint)
    endpoint.ended.finally(() => {
      this.busy.delete(name)
      // The request came after the endpoint's last look.
      if (endpoint.mustLook) this.send({ host_id, id })
    })
  }

  /** Takes into account that the previous lease holder may have attempts in flight. */
  inherit(): void {
    this.inheritsUntil = new Date(this.app.clock().getTime() + lostMilliseconds)
  }

  /** Resolves once all attempts have ended. Call it only after `mayWork` has become false. */
  async ended(): Promise<void> {
    for (const endpoint of this.busy.values()) endpoint.lookAgain()
    await Promise.all([...this.busy.values()].map(({ ended }) => ended))
  }
}
