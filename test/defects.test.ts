import { expect, test } from 'vitest'
import { defects, filesOf } from './soak/defects/defects.ts'
import { root } from './support/processes.ts'

/** The defects are made only now and then, so nothing they need may disappear in the meantime. */
test('the line of each made defect stands once in the sources, and there are tests to notice it', async () => {
  const paths = await Array.fromAsync(new Bun.Glob('test/**/*.test.ts').scan(root))
  const deterministic = paths.filter((path) => !path.startsWith('test/soak/'))
  const gone = defects.filter(
    (defect) =>
      filesOf(defect).length !== 1 ||
      !defect.tests.every((end) => deterministic.some((path) => path.includes(end))),
  )
  expect([defects.length >= 40, gone.map(({ what }) => what)]).toEqual([true, []])
})
