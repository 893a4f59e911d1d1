import { ConnectionError, PartnerError, type Schemas } from '../../../client/src/index.ts'
import { command } from '../../shared/command.ts'
import { exitCode } from '../../shared/errors.ts'
import { note } from '../../shared/output.ts'
import { version } from '../../shared/program.ts'
import { type CommandFinding, showFindings } from '../../shared/table.ts'
import { clientArgs, findAddress, openClient, type PartnerClient, timeOf } from '../client.ts'
import { formatError } from '../format-error.ts'
import { downloadOf, fetchServedVersion } from '../newer-version.ts'
import { aheadText, peekItem } from '../poll/feeds.ts'
import { accountOf, readCheckpoint } from '../poll/state-file.ts'
import { allPermissions } from '../service.ts'

export const doctor = command({
  examples: ['partnerctl doctor', 'partnerctl doctor --profile production'],
  args: clientArgs,
  async run({ args }) {
    const client = await openClient(args)
    const findings = await check(client, await findAddress(args))
    showFindings(
      args,
      findings,
      (failed) => `This setup does not work for a partner; failed: ${failed.join(', ')}`,
    )
  },
})

async function check(client: PartnerClient, base: string): Promise<CommandFinding[]> {
  const start = performance.now()
  try {
    const { response } = await client.host.get().withResponse()
    const milliseconds = Math.round(performance.now() - start)
    const key = await client.key.get()
    return [
      { check: 'reach', state: 'ok', detail: `${client.root} in ${milliseconds} ms` },
      { check: 'key', state: 'ok', detail: `"${key.name}" of ${key.host.name}` },
      ...checkPermissions(key),
      checkClock(response.headers),
      await checkFeed(client, key),
      await checkVersion(base),
    ]
  } catch (error) {
    const isOfService = error instanceof PartnerError || error instanceof ConnectionError
    const status = isOfService ? error.status : undefined
    const isRefused = status === 401 || status === 403
    const isKey = error instanceof PartnerError || isRefused
    const detail = formatError(error).text.split('\n')[0] as string
    const code = isRefused ? { code: exitCode.keyRefused } : {}
    return [{ check: isKey ? 'key' : 'reach', state: 'failed', detail, ...code }]
  }
}

/** Checks the key's permissions. Every partner needs the feed; other permissions may be missing on purpose. */
function checkPermissions({ permissions }: Schemas['Key']): CommandFinding[] {
  return allPermissions.map((permission) => {
    if (permissions.includes(permission)) return { check: permission, state: 'ok', detail: 'granted' }
    const state = permission === 'bookings.read' ? 'failed' : 'warning'
    return { check: permission, state, detail: 'not granted; ask your administrator' }
  })
}

const headerSeconds = 2
/** A larger clock difference is worth a warning, because hints and reports carry times. */
const maxSkewSeconds = 60

function checkClock(headers: Headers): CommandFinding {
  const skewSeconds = (Date.now() - Date.parse(headers.get('date') ?? '')) / 1000
  if (Number.isNaN(skewSeconds))
    return { check: 'clock', state: 'warning', detail: 'the response has no Date header' }
  // The header is truncated to whole seconds and takes time to arrive, so a smaller difference is not significant.
  if (Math.abs(skewSeconds) < headerSeconds)
    return { check: 'clock', state: 'ok', detail: `within ${headerSeconds} s of the service` }
  const state = Math.abs(skewSeconds) > maxSkewSeconds ? 'warning' : 'ok'
  const side = skewSeconds < 0 ? 'behind' : 'ahead of'
  return { check: 'clock', state, detail: `${Math.abs(skewSeconds).toFixed(1)} s ${side} the service` }
}

/**
 * Compares this program's version with the latest that the service distributes. A different version is not a failure,
 * because both keep the contract.
 */
async function checkVersion(base: string): Promise<CommandFinding> {
  const served = await fetchServedVersion(base)
  const warn = (detail: string): CommandFinding => ({ check: 'version', state: 'warning', detail })
  if (served === undefined) return warn(`this is ${version}; the service does not report its version`)
  // The command line of a checkout has the plain version, and the build of a checkout is not a release (decisions §30).
  if (served === version || served.startsWith(`${version}-dev.`))
    return { check: 'version', state: 'ok', detail: `${version}, the same as the service` }
  return warn(`this is ${version}, but the service has ${served}; get that one from ${downloadOf(base)}`)
}

/** Reports how far this user's poll lags behind the feed: the number of pending changes and the age of the oldest. */
async function checkFeed(client: PartnerClient, key: Schemas['Key']): Promise<CommandFinding> {
  const followed = { root: client.root, account: accountOf(client, key), filters: {} }
  try {
    const updated_after = await readCheckpoint(followed)
    const { version: oldest, total: waiting, ahead } = await peekItem(client, 'bookings', { updated_after })
    if (ahead) {
      note(aheadText('bookings', ahead, 'state'))
      const detail = `the checkpoint ${updated_after} is ahead of the feed, so no poll can get anything`
      return { check: 'feed', state: 'failed', detail }
    }
    const now = await timeOf(client)
    const lag = oldest ? Math.max(0, Math.round((now.getTime() - Date.parse(`${oldest}Z`)) / 1000)) : 0
    const since = updated_after ? `after the checkpoint ${updated_after}` : 'in all: no poll has run here'
    return { check: 'feed', state: 'ok', detail: `lag ${lag} s: ${waiting} changes ${since}` }
  } catch (error) {
    return { check: 'feed', state: 'failed', detail: formatError(error).text.split('\n')[0] as string }
  }
}
