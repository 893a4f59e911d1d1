import { defineConfig } from 'vitest/config'
import { soakFactor } from '../../test/support/soak.ts'
import { shared } from './shared.ts'

/** Files that measure times so short that nothing else may run at the same time. */
const alone = [
  'test/soak/faults/redis-outage.test.ts',
  'test/soak/webhooks/origin-turns.test.ts',
  'test/soak/platform/outgoing-turns.test.ts',
  'test/soak/**/*.alone.test.ts',
]

/**
 * Files whose times are too long to be distorted by a neighbour, but too short for a machine that is kept busy. They
 * wait most of the time, so they run side by side.
 */
const unhurried = [
  'certify/certify',
  'clients/clients',
  'observability/alerts',
  'observability/vanished',
  'calendars/killed-readers',
  'server/idle',
  'certify/guide-product',
  'cli/claim-renewal',
  'client/outage',
  'server/traces',
].map((file) => `test/soak/${file}.test.ts`)

/** The suites of the partners' commands, which `bin/test` runs with the installation's program in Bun. */
const partners = [
  'bad-network',
  'certify',
  'claims',
  'comfort',
  'consumer',
  'ctrl-c',
  'encodings',
  'health',
  'mcp',
  'messages',
  'nights',
  'output',
  'partner',
  'poll',
  'poll-accounts',
  'profiles',
  'proxy',
  'reconcile',
  'requests',
  'sandbox',
  'text',
  'users',
].map((file) => `test/cli/${file}.test.ts`)

/** Files that also run in `bin/test`, where they do less; see `isSoak`. */
const lighterInTest = [
  'certification/certification',
  'cli/served-file',
  'http/every-route',
  'http/idempotency',
  'http/ignored-fields',
  'inventory/calendars/race',
  'client/client',
  'client/readme',
  'pages/console/console',
  'pages/console/health',
  'pages/guide/pages',
  'platform/mongo/one-shard',
  'platform/redis/cause',
  'security/injection',
  'security/any-json',
  'security/schemas',
  'stays/bookings/pricing',
  'stays/capacity/history',
  'inventory/listings/merge',
  'inventory/availability/rows',
  'inventory/availability/overlay',
].map((file) => `test/${file}.test.ts`)

const { globalSetup, reporters, sequence, ...common } = shared
const ofEach = { ...common, env: { IS_SOAK: '1' }, testTimeout: 10 * 60_000 * soakFactor }

/** Configuration of `bin/soak`, which runs the tests that need load, kills, failovers or long histories. */
export default defineConfig({
  test: {
    globalSetup,
    reporters,
    sequence,
    projects: [
      { test: { ...ofEach, name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 1 } } },
      { test: { ...ofEach, name: 'unhurried', include: unhurried, sequence: { groupOrder: 2 } } },
      {
        test: {
          ...ofEach,
          name: 'together',
          include: ['test/soak/**/*.test.ts', ...lighterInTest],
          exclude: [...alone, ...unhurried],
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...ofEach,
          name: 'served file in Node',
          env: { IS_SOAK: '1', PARTNERCTL_RUNTIME: 'node' },
          include: partners,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
})
