import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/servers.ts',
    maxWorkers: 2,
    reporters: ['default', './test/support/folder-times.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
