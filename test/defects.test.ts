import { expect, test } from 'vitest'
import { defects, filesOf } from './soak/defects/defects.ts'
import { root } from './support/processes.ts'

/** The defect run is rarely started, so this test detects when a line or a test that the run needs disappears. */
test('the line of each seeded defect occurs exactly once in the sources, and tests exist to catch it', async () => {
  const paths = await Array.fromAsync(new Bun.Glob('test/**/*.test.ts').scan(root))
  const deterministic = paths.filter((path) => !path.startsWith('test/soak/'))
  const gone = defects.filter(
    (defect) =>
      filesOf(defect).length !== 1 ||
      !defect.tests.every((end) => deterministic.some((path) => path.includes(end))),
  )
  expect(defects.length).toBeGreaterThanOrEqual(40)
  expect(gone.map(({ what }) => what)).toEqual([])
})
