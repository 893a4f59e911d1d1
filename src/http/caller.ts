import type { Permission } from './permissions.ts'

/** The sender of a request, once the guard has authorized it. */
export interface Caller {
  readonly keyId: number
  /** The host account or sandbox to which every query of this request is limited. */
  readonly hostId: number
  /** The owner of retries and page ends: the key or, in the sandbox, the key's current sandbox. */
  readonly scope: number
  readonly isSandbox: boolean
  readonly permissions: readonly Permission[]
  /** Client address, for `login_ip` and the key's usage. */
  readonly address: string
  readonly host: { name: string; email: string; createdAt: Date; lastLoginAt: Date | null }
}

/** The input of a request besides its path and query. */
export interface RequestInput {
  readonly idempotencyKey: string | undefined
  /** The JSON body as sent, including unknown fields; undefined if the request has none. */
  readonly body: Record<string, unknown> | undefined
}
