import type { ViteUserConfig } from 'vitest/config'

const minute = 60_000

/** What `bin/test` and `bin/soak` have in common. */
export const shared = {
  globalSetup: 'test/support/servers.ts',
  maxWorkers: 2,
  // Files share nothing but the servers, and importing the whole service anew for each takes a minute in all.
  isolate: false,
  reporters: ['default', './test/support/reporter.ts'],
  // Only a defect reaches these, on no machine however busy: a test waits for what it is about, and not for a time.
  testTimeout: 5 * minute,
  hookTimeout: 5 * minute,
  expect: { poll: { timeout: 4 * minute, interval: 20 } },
} satisfies ViteUserConfig['test']
