import type { ApiKey } from '../../../src/access/keys/model.ts'
import { keyStatus } from '../../../src/access/keys/status.ts'
import type { MintedKey } from '../../../src/access/keys/store.ts'
import { toTimestampOrNull } from '../../../src/core/clock.ts'
import { note, print, record } from '../../output.ts'

/** Prints a newly minted key. This is the only time it is shown. */
export function showMinted(
  args: { json?: boolean | undefined },
  { key, record: minted }: MintedKey,
  more: Record<string, string | null> = {},
) {
  const shown = {
    id: minted.id,
    key,
    name: minted.name,
    host_id: minted.host_id,
    permissions: minted.permissions,
    expires_at: toTimestampOrNull(minted.expires_at),
    ...more,
  }
  print(args, shown, () => record({ ...shown, permissions: shown.permissions.join(', ') }))
  note('Save the key now: it is not shown again')
}

/** Converts a key to the record that the commands print. */
export function toRecord(key: ApiKey) {
  return {
    id: key.id,
    prefix: key.secrets.find(({ expires_at }) => expires_at === null)?.prefix ?? null,
    host_id: key.host_id,
    name: key.name,
    permissions: key.permissions,
    status: keyStatus(key, new Date()),
    expires_at: toTimestampOrNull(key.expires_at),
    previous: key.secrets.flatMap(({ prefix, expires_at }) =>
      expires_at ? [{ prefix, expires_at: toTimestampOrNull(expires_at) }] : [],
    ),
    rate_limit: key.rate_limit,
    usage_count: key.usage_count,
    last_used_at: toTimestampOrNull(key.last_used_at),
    addresses: key.addresses.map(({ address, last_used_at }) => ({
      address,
      last_used_at: toTimestampOrNull(last_used_at),
    })),
    created_at: toTimestampOrNull(key.created_at),
  }
}

/** Prints a key's record, never the key itself. */
export function showRecord(args: { json?: boolean | undefined }, key: ApiKey): void {
  const shown = toRecord(key)
  print(args, shown, ({ permissions: granted, previous, addresses, ...rest }) =>
    record({
      ...rest,
      permissions: granted.join(', '),
      previous: previous.map(({ prefix, expires_at }) => `${prefix} until ${expires_at}`).join(', ') || null,
      addresses: addresses.map(({ address }) => address).join(', ') || null,
    }),
  )
}
