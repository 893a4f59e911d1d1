import { defineConfig } from 'vitest/config'
import { shared } from './vitest.shared.ts'

/** `bin/test`: every test that is deterministic. */
export default defineConfig({
  test: { ...shared, include: ['test/**/*.test.ts'], exclude: ['test/soak/**'] },
})
