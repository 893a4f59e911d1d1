import { defineConfig } from 'vitest/config'
import { soakFactor } from './test/support/soak.ts'
import { shared } from './vitest.shared.ts'

/** `bin/soak`: what needs load, kills, failovers or long histories to show. */
export default defineConfig({
  test: {
    ...shared,
    include: ['test/soak/**/*.test.ts'],
    testTimeout: 10 * 60_000 * soakFactor,
  },
})
