import { defineCommand } from 'citty'
import { rateLimitName } from '../../../src/access/keys/authorizer.ts'
import type { ApiKey } from '../../../src/access/keys/model.ts'
import {
  findKey,
  listKeys,
  mintKey,
  revokeKey,
  rotateKey,
  setKeyActive,
} from '../../../src/access/keys/store.ts'
import { turnOffOfKeys } from '../../../src/changes/webhooks/key-end.ts'
import { toTimestampOrNull } from '../../../src/core/clock.ts'
import { readConfig } from '../../../src/core/config.ts'
import { permissions } from '../../../src/http/permissions.ts'
import { isRefusal } from '../../../src/platform/redis/cause.ts'
import { openRateLimiter } from '../../../src/process/open.ts'
import { command } from '../../command.ts'
import { confirm, yesArgument } from '../../confirm.ts'
import { UsageError } from '../../errors.ts'
import { note, print, table } from '../../output.ts'
import { afterArgument, cutToLimit, limitArgument, parseDuration, parseId, parseLimit } from '../../values.ts'
import { type Administration, administer, withDatabase } from './administer.ts'
import { keyArgument, readExpiry, readKeyName, readPermissions, readRateLimit } from './key-options.ts'
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
    if (args.name.length > 255) throw new UsageError('Option --name takes at most 255 characters')
    const input = {
      host: args.host,
      name: args.name,
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
    await invalidate(minted.record)
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

/** A command that changes one key, notifies the running processes and shows the key's record. */
function changing(
  name: string,
  description: string,
  example: string,
  change: (act: Administration, key: string) => Promise<ApiKey>,
  endsKey = false,
) {
  return command({
    meta: { name, description },
    examples: [example],
    args: { ...keyArgument, ...yesArgument },
    async run({ args }) {
      const target = `key ${readKeyName(args.key)}`
      if (name === 'revoke') await confirm(args, `The ${target} will be revoked for good.`)
      const key = await administer(`keys ${name}`, target, (act) => change(act, args.key))
      if (endsKey)
        await withDatabase((app) => turnOffOfKeys({ ...app, environment: { name: 'live' } }, [key.id]))
      await invalidate(key)
      showRecord(args, key)
    },
  })
}

const activate = changing('activate', 'Activate a key', 'partnerctl keys activate 12', ({ db }, key) =>
  setKeyActive(db, key, true),
)
const deactivate = changing(
  'deactivate',
  'Deactivate a key',
  'partnerctl keys deactivate 12',
  ({ db }, key) => setKeyActive(db, key, false),
  true,
)
const revoke = changing(
  'revoke',
  'Revoke a key for good',
  'partnerctl keys revoke 12 --yes',
  ({ db, clock }, key) => revokeKey(db, clock, key),
  true,
)

export const keys = defineCommand({
  subCommands: { mint, list, show, rotate, activate, deactivate, revoke },
})

/** Without Redis, or while it is down, processes notice the change by themselves within five seconds. */
async function invalidate(key: ApiKey): Promise<void> {
  const config = readConfig(process.env, ['MONGODB_URL'])
  if (!config.redisUrl) return
  try {
    const rateLimiter = await openRateLimiter(config)
    await rateLimiter.invalidate(rateLimitName(key.id)).finally(() => rateLimiter.close())
  } catch (error) {
    const why = isRefusal((error as Error).message) ? (error as Error).message : 'Redis does not respond'
    note(`${why}: running processes will notice within 5 s`)
  }
}
