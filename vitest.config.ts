import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/servers.ts',
    maxWorkers: 2,
    // Files share nothing but the servers, and importing the whole service anew for each takes a minute in all.
    isolate: false,
    reporters: ['default', './test/support/folder-times.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
