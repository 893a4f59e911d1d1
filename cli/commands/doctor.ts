import { permissions as allPermissions } from '../../src/keys/permissions.ts'
import { accountOf, feedPath, type KeyView, readKey } from '../account.ts'
import { clientArgs, openClient, type PartnerClient, PartnerError } from '../client.ts'
import { command } from '../command.ts'
import { exitCode } from '../errors.ts'
import { explain } from '../explain.ts'
import { type Finding, showFindings } from '../findings.ts'
import { readCheckpoint } from '../poll/checkpoint.ts'

const mostClockSkewSeconds = 60

export const doctor = command({
  meta: {
    name: 'doctor',
    description: 'Check that a partner could work: reachability, key, permissions, clock, feed',
  },
  args: clientArgs,
  async run({ args }) {
    const client = await openClient(args)
    const findings = await examine(client)
    showFindings(args, findings, (failed) => `A partner could not work: ${failed.join(', ')} failed`)
  },
})

/** @throws PartnerError for a key that is refused, when all else was shown */
async function examine(client: PartnerClient): Promise<Finding[]> {
  const start = performance.now()
  try {
    const { headers } = await client.send('GET', '/me')
    const milliseconds = Math.round(performance.now() - start)
    const key = await readKey(client)
    return [
      { check: 'reach', state: 'ok', detail: `${client.root} in ${milliseconds} ms` },
      { check: 'key', state: 'ok', detail: `"${key.name}" of ${key.host.name}` },
      ...examinePermissions(key),
      examineClock(headers),
      await examineFeed(client, key),
    ]
  } catch (error) {
    const isRefused = error instanceof PartnerError && error.status === 401
    const check = error instanceof PartnerError ? 'key' : 'reach'
    const detail = explain(error).text.split('\n')[0] as string
    return [{ check, state: 'failed', detail, ...(isRefused ? { code: exitCode.keyRefused } : {}) }]
  }
}

/** The feed is what a partner lives on; other permissions a key may lack on purpose. */
function examinePermissions({ permissions }: KeyView): Finding[] {
  return allPermissions.map((permission) => {
    if (permissions.includes(permission)) return { check: permission, state: 'ok', detail: 'granted' }
    const state = permission === 'bookings.read' ? 'failed' : 'warning'
    return { check: permission, state, detail: 'not granted; ask your administrator' }
  })
}

function examineClock(headers: Headers): Finding {
  const skew = Math.round((Date.now() - Date.parse(headers.get('date') ?? '')) / 1000)
  if (Number.isNaN(skew)) return { check: 'clock', state: 'warning', detail: 'the service tells no time' }
  const state = Math.abs(skew) > mostClockSkewSeconds ? 'warning' : 'ok'
  return {
    check: 'clock',
    state,
    detail: `${Math.abs(skew)} s ${skew < 0 ? 'behind' : 'ahead of'} the service`,
  }
}

/** How far the poll of this home is behind the feed: changes that wait, and since when the oldest does. */
async function examineFeed(client: PartnerClient, key: KeyView): Promise<Finding> {
  const scope = { root: client.root, account: accountOf(client, key), filters: {} }
  try {
    const updated_after = await readCheckpoint(scope)
    const { data, meta } = await client.send<{ Bookings: { version: string }[] }>('GET', feedPath, {
      query: { updated_after, per_page: 1 },
    })
    const waiting = meta.pagination?.total ?? 0
    const oldest = data.Bookings[0]?.version
    const lag = oldest ? Math.max(0, Math.round((Date.now() - Date.parse(`${oldest}Z`)) / 1000)) : 0
    const since = updated_after ? `after the checkpoint ${updated_after}` : 'in all: no poll has run here'
    return { check: 'feed', state: 'ok', detail: `lag ${lag} s: ${waiting} changes ${since}` }
  } catch (error) {
    return { check: 'feed', state: 'failed', detail: explain(error).text.split('\n')[0] as string }
  }
}
