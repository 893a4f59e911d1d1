import { clientArgs, openClient, type PartnerClient, PartnerError } from '../client.ts'
import { command } from '../command.ts'
import { explain } from '../explain.ts'
import { type Finding, showFindings } from '../findings.ts'

const feedPath = '/integrations/provider_one/bookings'
const mostClockSkewSeconds = 60

/** A request that needs this permission and, refused or not, changes nothing: a body of `{}` is never accepted. */
const probes: [string, string, string, string?][] = [
  ['listings.read', 'GET', '/listings?per_page=1'],
  ['bookings.read', 'GET', `${feedPath}?per_page=1`],
  ['users.write', 'POST', '/users', '{}'],
  ['bookings.write', 'POST', '/bookings', '{}'],
  ['listings.write', 'POST', '/listings', '{}'],
]

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

async function examine(client: PartnerClient): Promise<Finding[]> {
  const start = performance.now()
  try {
    const { data, headers } = await client.send<{ name: string }>('GET', '/me')
    const reached = {
      check: 'reach',
      state: 'ok' as const,
      detail: `${client.root} in ${Math.round(performance.now() - start)} ms`,
    }
    const key = { check: 'key', state: 'ok' as const, detail: `belongs to ${data.name}` }
    const permissions: Finding[] = []
    for (const probe of probes) permissions.push(await examinePermission(client, probe))
    return [reached, key, ...permissions, examineClock(headers), await examineFeed(client)]
  } catch (error) {
    const check = error instanceof PartnerError ? 'key' : 'reach'
    return [{ check, state: 'failed', detail: explain(error).text.split('\n')[0] as string }]
  }
}

/** The feed is what a partner lives on; other permissions a key may lack on purpose. */
async function examinePermission(
  client: PartnerClient,
  [permission, method, path, body]: (typeof probes)[number],
): Promise<Finding> {
  const status = await client.send(method, path, body === undefined ? {} : { body }).then(
    () => 200,
    (error) => (error instanceof PartnerError ? error.status : 0),
  )
  if (status === 200 || status === 422) return { check: permission, state: 'ok', detail: 'granted' }
  const state = permission === 'bookings.read' ? 'failed' : 'warning'
  return {
    check: permission,
    state,
    detail: status === 403 ? 'not granted; ask your administrator' : `answered ${status}`,
  }
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

async function examineFeed(client: PartnerClient): Promise<Finding> {
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  try {
    const start = performance.now()
    const { meta } = await client.send('GET', feedPath, { query: { updated_after: yesterday, per_page: 1 } })
    const took = Math.round(performance.now() - start)
    return {
      check: 'feed',
      state: 'ok',
      detail: `${meta.pagination?.total} changes since ${yesterday}, answered in ${took} ms`,
    }
  } catch (error) {
    return { check: 'feed', state: 'failed', detail: explain(error).text.split('\n')[0] as string }
  }
}
