import type { Permission } from './permissions.ts'

/** Who sent a request, once the door has let it in. */
export interface Caller {
  keyId: number
  /** The host account, or the sandbox, that every query of this request is limited to. */
  hostId: number
  /** What retries and walks belong to: the key or, in the sandbox, its present sandbox. */
  scope: number
  isSandbox: boolean
  permissions: readonly Permission[]
  /** Client address, for `login_ip` and the key's tracking. */
  address: string
  /** The `Idempotency-Key` of the request, if it sent one. */
  idempotencyKey: string | undefined
  /** The JSON body as sent, unknown fields too; undefined for a request without one. */
  sent: Record<string, unknown> | undefined
  host: { name: string; email: string; createdAt: Date; lastLoginAt: Date | null }
}
