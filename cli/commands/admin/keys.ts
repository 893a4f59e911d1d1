import { defineCommand } from 'citty'
import type { ApiKey } from '../../../src/access/keys/model.ts'
import {
  findKey,
  type KeyChange,
  listKeys,
  mintKey,
  revokeKey,
  rotateKey,
  setKeyActive,
  updateKey,
} from '../../../src/access/keys/store.ts'
import { toTimestampOrNull } from '../../../src/core/clock.ts'
import { permissions } from '../../../src/http/permissions.ts'
import { command } from '../../command.ts'
import { confirm, yesArgument } from '../../confirm.ts'
import { UsageError } from '../../errors.ts'
import { print, table } from '../../output.ts'
import { afterArgument, cutToLimit, limitArgument, parseDuration, parseId, parseLimit } from '../../values.ts'
import { type Administration, administer, readReason, reasonArgument, withDatabase } from './administer.ts'
import { announceKeys, turnOffWebhooks } from './key-changes.ts'
import {
  keyArgument,
  readExpiry,
  readKeyName,
  readNewName,
  readPermissions,
  readRateLimit,
} from './key-options.ts'
import { showMinted, showRecord, toRecord } from './key-record.ts'

const mint = command({
  meta: { name: 'mint', description: 'Mint an API key; it is shown once' },
  examples: [
    'partnerctl keys mint --host host@example.com --name "Channel manager" --permission bookings.read,bookings.write',
    'partnerctl keys mint --host 7 --name Feed --permission bookings.read --expires 2027-12-31 --rate-limit 120',
  ],
  args: {
    host: { type: 'string', required: true, description: 'Id or e-mail address of the host' },
    name: { type: 'string', required: true, description: 'What the key is for' },
    permission: { type: 'string', required: true, description: `Comma-separated: ${permissions.join(', ')}` },
    expires: { type: 'string', description: 'Date (valid through the end of that UTC day) or ISO time' },
    'rate-limit': { type: 'string', description: 'Requests per minute, instead of the default' },
  },
  async run({ args }) {
    const input = {
      host: args.host,
      name: readNewName(args.name),
      permissions: readPermissions(args.permission),
      expiresAt: args.expires ? readExpiry(args.expires) : null,
      rateLimit: args['rate-limit'] ? readRateLimit(args['rate-limit']) : null,
    }
    const minted = await administer('keys mint', `host ${args.host}`, ({ db, clock }) =>
      mintKey(db, clock, input),
    )
    showMinted(args, minted)
  },
})

const rotate = command({
  meta: { name: 'rotate', description: 'Give a key a new secret; the old one keeps working for the overlap' },
  examples: ['partnerctl keys rotate 12 --overlap 24h'],
  args: {
    ...keyArgument,
    overlap: { type: 'string', default: '24h', description: 'How long the old secret keeps working' },
  },
  async run({ args }) {
    const overlapSeconds = parseDuration(args.overlap)
    const target = `key ${readKeyName(args.key)}`
    const { previousExpiresAt, ...minted } = await administer('keys rotate', target, ({ db, clock }) =>
      rotateKey(db, clock, args.key, overlapSeconds),
    )
    await announceKeys([minted.record])
    showMinted(args, minted, { previous_expires_at: toTimestampOrNull(previousExpiresAt) })
  },
})

const list = command({
  meta: { name: 'list', description: 'List keys, lowest id first' },
  examples: ['partnerctl keys list', 'partnerctl keys list --limit 100 --after 100'],
  args: { ...limitArgument('keys'), ...afterArgument('keys') },
  async run({ args }) {
    const limit = parseLimit(args.limit)
    const after = args.after ? parseId(args.after) : 0
    await withDatabase(async ({ db }) => {
      const found = await listKeys(db, { after, limit: limit + 1 })
      const rows = cutToLimit(found, limit, ({ id }) => `continue with --after ${id}`).map(toRecord)
      print(args, rows, () =>
        table(
          ['ID', 'KEY', 'HOST', 'NAME', 'STATUS', 'EXPIRES', 'USES', 'LAST USED'],
          rows.map((row) => [
            row.id,
            row.prefix,
            row.host_id,
            row.name,
            row.status,
            row.expires_at,
            row.usage_count,
            row.last_used_at,
          ]),
        ),
      )
    })
  },
})

const show = command({
  meta: { name: 'show', description: 'Show the record of a key' },
  examples: ['partnerctl keys show pis_aB3dE5fG'],
  args: keyArgument,
  run: ({ args }) =>
    withDatabase(async ({ db }) => showRecord(args, await findKey(db, readKeyName(args.key)))),
})

const update = command({
  meta: { name: 'update', description: 'Change the name, permissions, limit or expiry of a key' },
  examples: [
    'partnerctl keys update 12 --permission bookings.read,listings.read',
    'partnerctl keys update 12 --expires never --rate-limit default',
  ],
  args: {
    ...keyArgument,
    name: { type: 'string', description: 'What the key is for' },
    permission: { type: 'string', description: `Comma-separated: ${permissions.join(', ')}` },
    expires: {
      type: 'string',
      description: 'Date (valid through the end of that UTC day), ISO time, or never',
    },
    'rate-limit': { type: 'string', description: 'Requests per minute, or default' },
  },
  async run({ args }) {
    const { name, permission, expires, 'rate-limit': limit } = args
    const values: KeyChange = {
      ...(name === undefined ? {} : { name: readNewName(name) }),
      ...(permission === undefined ? {} : { permissions: readPermissions(permission) }),
      ...(expires === undefined ? {} : { expires_at: expires === 'never' ? null : readExpiry(expires) }),
      ...(limit === undefined ? {} : { rate_limit: limit === 'default' ? null : readRateLimit(limit) }),
    }
    if (Object.keys(values).length === 0)
      throw new UsageError('Give --name, --permission, --expires or --rate-limit')
    const target = `key ${readKeyName(args.key)}`
    const key = await administer('keys update', target, ({ db }) => updateKey(db, args.key, values))
    await announceKeys([key])
    showRecord(args, key)
  },
})

interface Changing {
  description: string
  change: (act: Administration, key: string) => Promise<ApiKey>
  /** True if the change ends the key. Such a command takes a reason and turns off the key's webhooks. */
  endsKey?: boolean
}

/** Defines a command that changes one key, notifies the running processes and shows the key's record. */
function changing(name: string, { description, change, endsKey = false }: Changing) {
  return command({
    meta: { name, description },
    examples: [`partnerctl keys ${name} 12${name === 'revoke' ? ' --yes' : ''}`],
    args: { ...keyArgument, ...(endsKey ? reasonArgument : {}), ...yesArgument },
    async run({ args }) {
      const target = `key ${readKeyName(args.key)}`
      const reason = readReason(args.reason)
      if (name === 'revoke') await confirm(args, `The ${target} will be revoked for good.`)
      const key = await administer(`keys ${name}`, target, (act) => change(act, args.key), { reason })
      if (endsKey) await turnOffWebhooks([key])
      await announceKeys([key])
      showRecord(args, key)
    },
  })
}

const activate = changing('activate', {
  description: 'Activate a key',
  change: ({ db }, key) => setKeyActive(db, key, true),
})
const deactivate = changing('deactivate', {
  description: 'Deactivate a key',
  change: ({ db }, key) => setKeyActive(db, key, false),
  endsKey: true,
})
const revoke = changing('revoke', {
  description: 'Revoke a key for good',
  change: ({ db, clock }, key) => revokeKey(db, clock, key),
  endsKey: true,
})

export const keys = defineCommand({
  subCommands: { mint, list, show, update, rotate, activate, deactivate, revoke },
})
