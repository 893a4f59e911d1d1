import { defineCommand } from 'citty'
import type { ApiKey } from '../../src/access/keys/model.ts'
import {
  addSecret,
  endSecrets,
  findKey,
  type KeyChange,
  listKeys,
  mintKey,
  removeSecret,
  revokeKey,
  updateKey,
} from '../../src/access/keys/store.ts'
import { toTimestampOrNull } from '../../src/core/clock.ts'
import { permissions } from '../../src/http/permissions.ts'
import { command, option, requiredOption } from '../shared/command.ts'
import { UsageError } from '../shared/errors.ts'
import { afterArgument, limitArgument, parseDuration, parseId } from '../shared/values.ts'
import {
  type Act,
  type Administration,
  administer,
  confirm,
  printEntries,
  readReason,
  reasonArgument,
  withDatabase,
  yesArgument,
} from './administer.ts'
import {
  adviseToSave,
  announceKeys,
  keyArgument,
  readExpiry,
  readKeyName,
  readNetworks,
  readNewName,
  readPermissions,
  readRateLimit,
  revokeUnseen,
  showMinted,
  showOrTakeBack,
  showRecord,
  toRecord,
  turnOffWebhooks,
  withSuspensions,
} from './key-options.ts'

const mint = command({
  meta: { name: 'mint', description: 'Mint an API key; it is shown once' },
  examples: [
    'partnerctl keys mint --host host@example.com --name "Channel manager" --permission bookings.read,bookings.write',
    'partnerctl keys mint --host 7 --name Feed --permission bookings.read --expires 2027-12-31 --rate-limit 120',
  ],
  args: {
    host: requiredOption('Id or e-mail address of the host'),
    name: requiredOption('What the key is for'),
    permission: requiredOption(`Comma-separated: ${permissions.join(', ')}`),
    expires: option('Date (valid through the end of that UTC day) or ISO time'),
    'rate-limit': option('Requests per minute, instead of the default'),
    'allow-from': option('Comma-separated networks from which the key is accepted, or anywhere', 'networks'),
  },
  async run({ args }) {
    const input = {
      host: args.host,
      name: readNewName(args.name),
      permissions: readPermissions(args.permission),
      expiresAt: args.expires ? readExpiry(args.expires) : null,
      rateLimit: args['rate-limit'] ? readRateLimit(args['rate-limit']) : null,
      allowedFrom: readNetworks(args['allow-from'] ?? 'anywhere'),
    }
    const work = async (act: Act) => {
      const minted = await act.inAuditedTransaction(null, () => mintKey(act.db, act.clock, input))
      const { id } = minted.record
      await showOrTakeBack({
        name: `key ${id}`,
        show: () => showMinted(args, minted),
        takeBack: () => revokeUnseen(act, id),
      })
    }
    await administer('keys mint', `host ${args.host}`, work, { record: 'caller' })
    adviseToSave()
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
    const work = async ({ db, clock, inAuditedTransaction }: Act): Promise<ApiKey> => {
      const { previous, ...minted } = await inAuditedTransaction(null, () => addSecret(db, args.key))
      const { id } = minted.record
      const previousExpiresAt = new Date(clock().getTime() + overlapSeconds * 1000)
      await showOrTakeBack({
        name: `secret of key ${id}`,
        show: () => showMinted(args, minted, { previous_expires_at: toTimestampOrNull(previousExpiresAt) }),
        takeBack: () => removeSecret(db, id, minted.key),
      })
      await endSecrets(db, id, previous, previousExpiresAt)
      return minted.record
    }
    const afterwards = (app: Administration, key: ApiKey) => announceKeys(app, [key])
    await administer('keys rotate', target, work, { record: 'caller', afterwards })
    adviseToSave()
  },
})

const list = command({
  meta: { name: 'list', description: 'List keys, lowest id first' },
  examples: ['partnerctl keys list', 'partnerctl keys list --limit 100 --after 100'],
  args: { ...limitArgument('keys'), ...afterArgument('keys') },
  async run({ args }) {
    const after = args.after ? parseId(args.after) : 0
    await printEntries(args, {
      find: async ({ db }, limit) => withSuspensions(db, await listKeys(db, { after, limit })),
      toRow: toRecord,
      hint: ({ id }) => `continue with --after ${id}`,
      columns: {
        ID: 'id',
        KEY: 'prefix',
        HOST: 'host_id',
        NAME: 'name',
        STATUS: 'status',
        EXPIRES: 'expires_at',
        USES: 'usage_count',
        'LAST USED': 'last_used_at',
        READ: 'bookings_read',
      },
    })
  },
})

const show = command({
  meta: { name: 'show', description: 'Show the record of a key' },
  examples: ['partnerctl keys show pis_aB3dE5fG'],
  args: keyArgument,
  run: ({ args }) =>
    withDatabase(async ({ db }) => {
      const [key] = await withSuspensions(db, [await findKey(db, readKeyName(args.key))])
      showRecord(args, key as ApiKey)
    }),
})

const update = command({
  meta: { name: 'update', description: 'Change the name, permissions, limit, expiry or networks of a key' },
  examples: [
    'partnerctl keys update 12 --permission bookings.read,listings.read',
    'partnerctl keys update 12 --expires never --rate-limit default',
    'partnerctl keys update 12 --allow-from 203.0.113.0/24,2001:db8:12::/48',
  ],
  args: {
    ...keyArgument,
    name: option('What the key is for'),
    permission: option(`Comma-separated: ${permissions.join(', ')}`),
    expires: option('Date (valid through the end of that UTC day), ISO time, or never'),
    'rate-limit': option('Requests per minute, or default'),
    'allow-from': option('Comma-separated networks from which the key is accepted, or anywhere', 'networks'),
  },
  async run({ args }) {
    const { name, permission, expires, 'rate-limit': limit, 'allow-from': networks } = args
    const values: KeyChange = {
      ...(name === undefined ? {} : { name: readNewName(name) }),
      ...(permission === undefined ? {} : { permissions: readPermissions(permission) }),
      ...(expires === undefined ? {} : { expires_at: expires === 'never' ? null : readExpiry(expires) }),
      ...(limit === undefined ? {} : { rate_limit: limit === 'default' ? null : readRateLimit(limit) }),
      ...(networks === undefined ? {} : { allowed_from: readNetworks(networks) }),
    }
    if (Object.keys(values).length === 0)
      throw new UsageError('Give --name, --permission, --expires, --rate-limit or --allow-from')
    const target = `key ${readKeyName(args.key)}`
    const key = await administer('keys update', target, ({ db }) => updateKey(db, args.key, values), {
      afterwards: (app, changed) => announceKeys(app, [changed]),
    })
    showRecord(args, key)
  },
})

interface KeyCommand {
  description: string
  change: (act: Administration, key: string) => Promise<ApiKey>
  /** True if the change makes the key unusable. Such a command takes a reason and turns off the key's webhooks. */
  endsKey?: boolean
}

/** Defines a command that changes one key, notifies the running processes and shows the key's record. */
function keyCommand(name: string, { description, change, endsKey = false }: KeyCommand) {
  return command({
    meta: { name, description },
    examples: [`partnerctl keys ${name} 12${name === 'revoke' ? ' --yes' : ''}`],
    args: { ...keyArgument, ...(endsKey ? reasonArgument : {}), ...yesArgument },
    async run({ args }) {
      const target = `key ${readKeyName(args.key)}`
      const reason = readReason(args.reason)
      if (name === 'revoke') await confirm(args, `The ${target} will be revoked for good.`)
      const afterwards = async (app: Administration, key: ApiKey) => {
        await announceKeys(app, [key])
        if (endsKey) await turnOffWebhooks(app, [key])
      }
      const work = (act: Act) => change(act, args.key)
      const key = await administer(`keys ${name}`, target, work, { reason, afterwards })
      showRecord(args, key)
    },
  })
}

const activate = keyCommand('activate', {
  description: 'Activate a key',
  change: ({ db }, key) => updateKey(db, key, { active: true }),
})
const deactivate = keyCommand('deactivate', {
  description: 'Deactivate a key',
  change: ({ db }, key) => updateKey(db, key, { active: false }),
  endsKey: true,
})
const revoke = keyCommand('revoke', {
  description: 'Revoke a key for good',
  change: ({ db, clock }, key) => revokeKey(db, clock, key),
  endsKey: true,
})

export const keys = defineCommand({
  subCommands: { mint, list, show, update, rotate, activate, deactivate, revoke },
})
