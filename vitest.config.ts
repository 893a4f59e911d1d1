import { defineConfig } from 'vitest/config'
import { shared } from './tools/vitest/shared.ts'

/** Configuration of `bin/test`, which runs all deterministic tests. */
export default defineConfig({
  test: { ...shared, include: ['test/**/*.test.ts'], exclude: ['test/soak/**'] },
})
