import { expect, test } from 'vitest'
import { isPatched } from '../../../src/platform/mongo/patched-versions.ts'

test('production is warned of every version of the database server that can be read from without a password', () => {
  const versions = [
    '4.0.28',
    '4.2.25',
    '4.4.29',
    '5.0.31',
    '6.0.26',
    '7.0.27',
    '7.3.4',
    '8.0.16',
    '8.1.2',
    '8.2.2',
  ]
  expect(versions.filter(isPatched)).toEqual([])
  const patched = ['4.4.30', '5.0.32', '6.0.27', '7.0.28', '8.0.17', '8.0.21-rc0', '8.2.3', '8.3.0', '9.0.1']
  expect(patched.filter((version) => !isPatched(version))).toEqual([])
})
