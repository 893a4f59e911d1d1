import { type Static, Type } from '@sinclair/typebox'
import type { PartnerClient } from './client.ts'

/** The fields of a key's own record that the commands need. */
const OwnKey = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  host: Type.Object({ name: Type.String(), email: Type.String() }),
  permissions: Type.Array(Type.String()),
})
export type OwnKey = Static<typeof OwnKey>

/** Reads the record of the client's own key. */
export async function readKey(client: PartnerClient): Promise<OwnKey> {
  return (await client.send<OwnKey>('GET', '/key', { expects: OwnKey })).data
}

/**
 * Returns the account whose changes a poll follows (decisions §15): the host on live data, the key in the sandbox. A
 * rotated key remains the same key.
 */
export function accountOf({ isSandbox }: Pick<PartnerClient, 'isSandbox'>, { id, host }: OwnKey): string {
  return isSandbox ? `key ${id}` : `host ${host.email}`
}

/** Returns {@link accountOf} for the client's own key. */
export async function readAccount(client: PartnerClient): Promise<string> {
  return accountOf(client, await readKey(client))
}
