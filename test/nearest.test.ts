import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nearestTests } from '../tools/vitest/nearest.ts'
import { root } from './support/processes.ts'

const ofBookings = expect.arrayContaining([
  'test/stays/bookings/create.test.ts',
  'test/stays/bookings/partner-transitions.test.ts',
])

test('a change of a route runs its folder first, then the tests of every route, then the client', () => {
  const changed = ['client/src/client.ts', 'deploy/nginx/nginx.conf', 'src/stays/bookings/routes.ts']
  const { near, shared, far } = nearestTests(changed)
  expect(near).toEqual(ofBookings)
  const elsewhere = near.filter((path) => !path.startsWith('test/stays/bookings/'))
  expect(elsewhere).toEqual(['test/defects.test.ts'])
  expect(shared).toEqual(
    expect.arrayContaining([
      'test/http/every-route.thorough.test.ts',
      'test/http/fault-pairs.thorough.test.ts',
      'test/security/injection.thorough.test.ts',
      'test/security/schemas.thorough.test.ts',
      'test/platform/mongo/one-shard.thorough.test.ts',
      'test/pages/docs/openapi.thorough.test.ts',
    ]),
  )
  expect(shared.filter((path) => !existsSync(join(root, path)))).toEqual([])
  expect(far.map((path) => path.split('/')[1])).toEqual(expect.arrayContaining(['client', 'deploy']))
})

test('a change of a rule runs its folder, and no test of every route', () => {
  const { near, shared, far } = nearestTests(['src/stays/bookings/create.ts'])
  expect(near).toEqual(ofBookings)
  expect({ shared, far }).toEqual({ shared: [], far: [] })
})

test('a changed test comes before the others of its folder, and a chapter has the tests of the guide', () => {
  const { near, shared } = nearestTests([
    'docs/guide/07-bookings.md',
    'src/stays/users/create.ts',
    'test/stays/bookings/create.test.ts',
  ])
  expect(near[0]).toBe('test/stays/bookings/create.test.ts')
  expect(near).toContain('test/pages/guide/pages.thorough.test.ts')
  expect(near).toContain('test/defects.test.ts')
  expect(shared).toEqual([])
})
