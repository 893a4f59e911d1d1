import { expect, test } from 'vitest'
import type { ApiKey } from '../../../src/access/keys/model.ts'
import { keyStatus } from '../../../src/access/keys/status.ts'

const now = new Date('2026-11-22T12:00:00Z')
const before = (milliseconds: number) => new Date(now.getTime() - milliseconds)

test.each([
  ['active', { active: true, revoked_at: null, expires_at: null }],
  ['active', { active: true, revoked_at: null, expires_at: before(-1) }],
  ['expired', { active: true, revoked_at: null, expires_at: now }],
  ['expired', { active: false, revoked_at: null, expires_at: before(1) }],
  ['inactive', { active: false, revoked_at: null, expires_at: null }],
  ['revoked', { active: false, revoked_at: before(1), expires_at: before(1) }],
])('keyStatus() is %s for %j', (status, key) => {
  expect(keyStatus(key as ApiKey, now)).toBe(status)
})
