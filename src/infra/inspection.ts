import { measureSkew, mostSkewSeconds } from './clock-watch.ts'
import { type Db, missingIndexes, type Preparable } from './mongo.ts'

/** One thing that was looked at. */
export interface Finding {
  check: string
  state: 'ok' | 'failed'
  detail: string
}

/** Looks at what the service needs of its database: indexes, a healthy replica set, a clock like ours. */
export async function inspectDatabase(db: Db, models: ((db: Db) => Preparable)[]): Promise<Finding[]> {
  return [await inspectIndexes(db, models), await inspectReplicaSet(db), await inspectClock(db)]
}

async function inspectIndexes(db: Db, models: ((db: Db) => Preparable)[]): Promise<Finding> {
  const missing = (await Promise.all(models.map(async (model) => missingIndexes(model(db))))).flat()
  const detail =
    missing.length === 0
      ? 'all indexes are there'
      : `missing: ${missing.join(', ')}; starting the service creates them`
  return { check: 'indexes', state: missing.length === 0 ? 'ok' : 'failed', detail }
}

interface MemberStatus {
  name: string
  stateStr: string
  health: number
}

async function inspectReplicaSet(db: Db): Promise<Finding> {
  const { members = [] } = (await db.getClient().db('admin').command({ replSetGetStatus: 1 })) as {
    members?: MemberStatus[]
  }
  const isWell = ({ health, stateStr }: MemberStatus) =>
    health === 1 && /^(PRIMARY|SECONDARY|ARBITER)$/.test(stateStr)
  const isHealthy = members.every(isWell) && members.some(({ stateStr }) => stateStr === 'PRIMARY')
  const detail = members.map(({ name, stateStr }) => `${name} ${stateStr}`).join(', ')
  return { check: 'replica set', state: isHealthy ? 'ok' : 'failed', detail }
}

async function inspectClock(db: Db): Promise<Finding> {
  const skewSeconds = await measureSkew(db)
  const state = Math.abs(skewSeconds) > mostSkewSeconds ? 'failed' : 'ok'
  const detail = `${Math.abs(skewSeconds).toFixed(3)} s ${skewSeconds < 0 ? 'behind' : 'ahead of'} the database`
  return { check: 'clock', state, detail: `${detail}; at most ${mostSkewSeconds} s are allowed` }
}
