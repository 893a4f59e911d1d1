import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defects } from './soak/defects/defects.ts'
import { root } from './support/processes.ts'

/** They are made only now and then: what they need must not be gone by then. */
test('the line of each made defect stands once in the sources, and there are tests to notice it', async () => {
  const paths = await Array.fromAsync(new Bun.Glob('test/**/*.test.ts').scan(root))
  const deterministic = paths.filter((path) => !path.startsWith('test/soak/'))
  const gone: string[] = []
  for (const { what, file, right, tests } of defects) {
    const times = (await readFile(join(root, file), 'utf8')).split(right).length - 1
    const isNoticed = tests.every((end) => deterministic.some((path) => path.includes(end)))
    if (times !== 1 || !isNoticed) gone.push(what)
  }
  expect([defects.length >= 40, gone]).toEqual([true, []])
})
