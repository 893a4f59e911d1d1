import { expect, test } from 'vitest'
import { shardFinding } from '../../src/operations/inspection.ts'

/** Returns a shard as MongoDB documents it in a response to `listShards`, because no router is available here. */
const shard = (id: string, more: object = {}) => ({
  _id: id,
  host: `${id}/a:27018,b:27018`,
  state: 1,
  ...more,
})

test('shardFinding() fails if a shard is being removed or not added yet, or if there is none', () => {
  const first = shard('rs1')
  const second = shard('rs2')
  expect(shardFinding({ shards: [first, second] })).toEqual({
    check: 'shards',
    state: 'ok',
    detail: 'rs1 rs1/a:27018,b:27018, rs2 rs2/a:27018,b:27018',
  })
  const draining = shardFinding({ shards: [first, shard('rs2', { draining: true })] })
  expect(draining).toMatchObject({
    state: 'failed',
    detail: expect.stringMatching(/rs2.* is being removed$/),
  })
  expect(shardFinding({ shards: [shard('rs1', { state: 0 })] }).state).toBe('failed')
  expect(shardFinding({ shards: [] }).state).toBe('failed')
})
