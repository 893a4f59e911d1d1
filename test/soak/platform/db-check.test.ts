import { mongo } from 'mongoose'
import { expect, test } from 'vitest'
import { partnerctl } from '../../support/processes.ts'
import { startReplicaSet } from '../../support/replica-set.ts'

test('db check reads the transaction lifetime of every member', async () => {
  const replicas = await startReplicaSet(3)
  const check = async () => {
    const { stdout } = await partnerctl(['db', 'check', '--json'], { MONGODB_URL: replicas.url })
    return JSON.parse(stdout).find((finding: { check: string }) => finding.check === 'transaction limit')
  }
  try {
    expect(await check()).toMatchObject({ state: 'ok' })
    const hosts = /\/\/([^/]+)/.exec(replicas.url)?.[1]?.split(',') ?? []
    const last = hosts.at(-1) as string
    const client = await new mongo.MongoClient(`mongodb://${last}/?directConnection=true`).connect()
    await client.db('admin').command({ setParameter: 1, transactionLifetimeLimitSeconds: 60 })
    await client.close()
    const found = await check()
    expect(found.state).toBe('warning')
    expect(found.detail).toContain(`${last} 60 s`)
    expect(found.detail.match(/ 3 s/g)).toHaveLength(2)
  } finally {
    await replicas.stop()
  }
})
