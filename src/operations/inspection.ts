import { findKeysWith } from '../access/keys/store.ts'
import { describeSkew, maxSkewSeconds } from '../core/clock.ts'
import { measureSkew } from '../platform/mongo/clock-watch.ts'
import { compareIndexes, type IndexDifference } from '../platform/mongo/collections.ts'
import { type Db, runOnMember } from '../platform/mongo/connection.ts'
import { latestVersion, type Release, readSchemaState } from '../platform/mongo/server/schema-version.ts'

/**
 * Checks that the database meets the service's requirements: schema, indexes, healthy members, a short transaction
 * limit, and a clock that agrees with this machine's. Also lists the keys that can read guests' data.
 *
 * @param url connection string that the database was opened with, used to query each member directly
 */
export async function inspectDatabase(db: Db, url: string, release: Release): Promise<Finding[]> {
  return [
    await inspectSchema(db, release),
    await inspectIndexes(db, release),
    await inspectMembers(db),
    ...(await inspectTransactions(db, url)),
    await inspectClock(db),
    await inspectGuestReaders(db),
  ]
}

async function inspectSchema(db: Db, release: Release): Promise<Finding> {
  const { version, oldest } = await readSchemaState(db, release)
  const known = latestVersion(release.migrations)
  const range = `version ${version}; releases from version ${oldest} on can serve it; this release has version ${known}`
  if (version < known)
    return {
      check: 'schema',
      state: 'warning',
      detail: `${range}; "db migrate" or a service start upgrades it`,
    }
  if (oldest < known)
    return { check: 'schema', state: 'warning', detail: `${range}; "db migrate --finish" ends the upgrade` }
  return { check: 'schema', state: 'ok', detail: range }
}

async function inspectIndexes(db: Db, { models }: Release): Promise<Finding> {
  const differences = await compareIndexes(models.map((of) => of(db)))
  const names = (which: 'missing' | 'changed') =>
    differences.flatMap((difference: IndexDifference) => difference[which].map(({ options }) => options.name))
  const found = [
    ...names('missing').map((name) => `${name} is missing`),
    ...names('changed').map((name) => `${name} differs from its definition`),
  ]
  const detail = found.length === 0 ? 'as defined' : `${found.join(', ')}; "db migrate" repairs this`
  return { check: 'indexes', state: found.length === 0 ? 'ok' : 'failed', detail }
}

interface Hello {
  setName?: string
  /** The members that hold data. */
  hosts?: string[]
  /** `isdbgrid` if the server is the router of a sharded cluster. */
  msg?: string
}

/** Inspects a replica set's members or a cluster's shards. A router reports only whether each shard is in use. */
async function inspectMembers(db: Db): Promise<Finding> {
  const hello = (await admin(db, { isMaster: 1 })) as Hello
  if (hello.msg === 'isdbgrid') return shardFinding((await admin(db, { listShards: 1 })) as Shards)
  if (!hello.setName)
    return { check: 'replica set', state: 'failed', detail: 'not a replica set, which transactions require' }
  return memberFinding((await admin(db, { replSetGetStatus: 1 })) as Members)
}

/** Maximum time for which a transaction left open by a killed process may block retries (decisions §11). */
const maxTransactionSeconds = 3

/**
 * Inspects the transaction limit of every member. Any member may become primary, so each must abort abandoned
 * transactions quickly. A sharded cluster's router lists no members, so there is no finding for a sharded cluster.
 */
async function inspectTransactions(db: Db, url: string): Promise<Finding[]> {
  const { hosts = [] } = (await admin(db, { isMaster: 1 })) as Hello
  const found = await Promise.all(
    hosts.map(async (host) => {
      const seconds = await transactionSeconds(url, host).catch(() => null)
      return { host, seconds }
    }),
  )
  if (found.length === 0) return []
  const isWell = found.every(({ seconds }) => seconds !== null && seconds <= maxTransactionSeconds)
  const detail = found.map(({ host, seconds }) => `${host} ${seconds === null ? 'unknown' : `${seconds} s`}`)
  const advice = `; start each server with --setParameter transactionLifetimeLimitSeconds=${maxTransactionSeconds}`
  return [
    {
      check: 'transaction limit',
      state: isWell ? 'ok' : 'warning',
      detail: `${detail.join(', ')}${isWell ? '' : advice}`,
    },
  ]
}

async function transactionSeconds(url: string, host: string): Promise<number> {
  const parameter = 'transactionLifetimeLimitSeconds'
  return Number((await runOnMember(url, host, { getParameter: 1, [parameter]: 1 }))[parameter])
}

interface Members {
  members: { name: string; stateStr: string; health: number }[]
}

function memberFinding({ members }: Members): Finding {
  const isWell = ({ health, stateStr }: Members['members'][number]) =>
    health === 1 && /^(PRIMARY|SECONDARY|ARBITER)$/.test(stateStr)
  const isHealthy = members.every(isWell) && members.some(({ stateStr }) => stateStr === 'PRIMARY')
  const detail = members.map(({ name, stateStr }) => `${name} ${stateStr}`).join(', ')
  return { check: 'replica set', state: isHealthy ? 'ok' : 'failed', detail }
}

/** A router's response to `listShards`; state 1 means that the shard has been added completely. */
export interface Shards {
  shards: { _id: string; host: string; state: number; draining?: boolean }[]
}

/** Returns the finding of `db check` for a sharded cluster. */
export function shardFinding({ shards }: Shards): Finding {
  const isWell = shards.length > 0 && shards.every(({ state, draining }) => state === 1 && !draining)
  const detail = shards
    .map(({ _id, host, draining }) => `${_id} ${host}${draining ? ' is being removed' : ''}`)
    .join(', ')
  return { check: 'shards', state: isWell ? 'ok' : 'failed', detail: detail || 'there are none' }
}

function admin(db: Db, command: object): Promise<unknown> {
  return db
    .getClient()
    .db('admin')
    .command(command as Record<string, unknown>)
}

async function inspectClock(db: Db): Promise<Finding> {
  const skewSeconds = await measureSkew(db)
  const state = Math.abs(skewSeconds) > maxSkewSeconds ? 'failed' : 'ok'
  const detail = `${describeSkew(skewSeconds, 'the database')}; at most ${maxSkewSeconds} s are allowed`
  return { check: 'clock', state, detail }
}

/** Lists the keys with `users.read`, the permission to read guests' personal data (decisions §27). */
async function inspectGuestReaders(db: Db): Promise<Finding> {
  const keys = await findKeysWith(db, 'users.read', new Date())
  const detail = keys.map(({ id, host_id, name }) => `${id} "${name}" of host ${host_id}`).join(', ')
  return { check: 'keys with users.read', state: 'ok', detail: detail || 'there are none' }
}

/** The result of one check. */
export interface Finding {
  check: string
  state: 'ok' | 'warning' | 'failed'
  detail: string
}
