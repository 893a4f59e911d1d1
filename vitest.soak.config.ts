import { defineConfig } from 'vitest/config'
import { soakFactor } from './test/support/soak.ts'
import { shared } from './vitest.shared.ts'

/** `bin/soak`: what needs load, kills, failovers or long histories to show. */
export default defineConfig({
  test: {
    ...shared,
    // The second ones go on from `bin/test`, see `isSoak`.
    include: [
      'test/soak/**/*.test.ts',
      ...['http/every-route', 'security/injection', 'security/any-json', 'security/schemas'].map(
        (file) => `test/${file}.test.ts`,
      ),
      ...[
        'stays/bookings/pricing',
        'inventory/listings/merge',
        'inventory/availability/rows',
        'inventory/availability/overlay',
      ].map((file) => `test/${file}.test.ts`),
    ],
    env: { IS_SOAK: '1' },
    testTimeout: 10 * 60_000 * soakFactor,
  },
})
