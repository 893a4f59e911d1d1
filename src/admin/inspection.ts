import { measureSkew } from '../platform/mongo/clock-watch.ts'
import { missingIndexes, type Preparable } from '../platform/mongo/collections.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { maximumSkewSeconds } from '../skew.ts'
import { describeSkew, type Finding } from './finding.ts'

/** Checks what the service needs of its database: indexes, a healthy replica set, a clock that agrees with ours. */
export async function inspectDatabase(db: Db, models: ((db: Db) => Preparable)[]): Promise<Finding[]> {
  return [await inspectIndexes(db, models), await inspectReplicaSet(db), await inspectClock(db)]
}

async function inspectIndexes(db: Db, models: ((db: Db) => Preparable)[]): Promise<Finding> {
  const missing = (await Promise.all(models.map(async (model) => missingIndexes(model(db))))).flat()
  const detail =
    missing.length === 0
      ? 'all indexes exist'
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
  const state = Math.abs(skewSeconds) > maximumSkewSeconds ? 'failed' : 'ok'
  const detail = `${describeSkew(skewSeconds, 'the database')}; at most ${maximumSkewSeconds} s are allowed`
  return { check: 'clock', state, detail }
}
