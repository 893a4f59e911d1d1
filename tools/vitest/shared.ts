import type { ViteUserConfig } from 'vitest/config'

const minute = 60_000

/** Configuration shared by `bin/test` and `bin/soak`. */
export const shared = {
  globalSetup: 'test/support/servers.ts',
  // Tests wait for servers, processes and time limits for a third of their time, so two cores are shared by three.
  maxWorkers: 3,
  // Files share only the servers, and importing the whole service again for each file would take a minute in total.
  isolate: false,
  // The runtime runs TypeScript itself. Vite's module runner would transform every file, and slow down every import.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  reporters: ['default', './test/support/reporter.ts'],
  // Only a defect should exceed these limits, even on a busy machine, because tests wait for conditions, not for times.
  testTimeout: 5 * minute,
  hookTimeout: 5 * minute,
  // Most conditions are asked of a service, and asking more often would keep the machine busier than the tests do.
  expect: { poll: { timeout: 4 * minute, interval: 50 } },
} satisfies ViteUserConfig['test']
