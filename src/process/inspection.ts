import { maxSkewSeconds } from '../core/skew.ts'
import { measureSkew } from '../platform/mongo/clock-watch.ts'
import { compareIndexes, type IndexDifference } from '../platform/mongo/collections.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { latestVersion, type Release, readSchemaState } from '../platform/mongo/schema-version.ts'
import { describeSkew, type Finding } from './finding.ts'

/** Checks what the service needs of its database: schema, indexes, healthy members, a clock that agrees with ours. */
export async function inspectDatabase(db: Db, release: Release): Promise<Finding[]> {
  return [
    await inspectSchema(db, release),
    await inspectIndexes(db, release),
    await inspectMembers(db),
    await inspectClock(db),
  ]
}

async function inspectSchema(db: Db, release: Release): Promise<Finding> {
  const { version, oldest } = await readSchemaState(db, release)
  const known = latestVersion(release.migrations)
  const range = `version ${version}; releases from version ${oldest} on can serve it, this one is ${known}`
  if (version < known)
    return { check: 'schema', state: 'warning', detail: `${range}; "db migrate" or a start brings it up` }
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
  const detail = found.length === 0 ? 'as defined' : `${found.join(', ')}; "db migrate" puts that right`
  return { check: 'indexes', state: found.length === 0 ? 'ok' : 'failed', detail }
}

interface Hello {
  setName?: string
  /** `isdbgrid` of the router of a sharded cluster. */
  msg?: string
}

/** The members of a replica set, or the shards of a cluster: a router knows of its shards only whether it uses them. */
async function inspectMembers(db: Db): Promise<Finding> {
  const hello = (await admin(db, { isMaster: 1 })) as Hello
  if (hello.msg === 'isdbgrid') return shardFinding((await admin(db, { listShards: 1 })) as Shards)
  if (!hello.setName)
    return { check: 'replica set', state: 'failed', detail: 'not a replica set: transactions need one' }
  return memberFinding((await admin(db, { replSetGetStatus: 1 })) as Members)
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

/** Response of a router to `listShards`; state 1 is a shard that has been added completely. */
export interface Shards {
  shards: { _id: string; host: string; state: number; draining?: boolean }[]
}

/** The finding of `db check` for a sharded cluster. */
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
