import { expect, test } from 'vitest'
import { defects } from './soak/defects/defects.ts'
import { findSeams, withDefect } from './soak/defects/seam.ts'
import { root } from './support/processes.ts'

/*
 * The seeded defects rarely run, so these tests notice when a place in the sources or a test that the run needs is gone.
 */

test('each promise is kept in one place of the sources, which the seeded defect can break', async () => {
  const seams = await findSeams()
  expect(seams.map(({ what }) => what).sort()).toEqual(defects.map(({ what }) => what).sort())
  for (const seam of seams) {
    const edit = defects.find(({ what }) => what === seam.what)?.edit
    const broken = edit && withDefect(seam, edit)
    expect(broken, seam.what).not.toBe(seam.source)
    const loader = seam.file.endsWith('x') ? 'tsx' : 'ts'
    expect(() => new Bun.Transpiler({ loader }).transformSync(broken ?? ''), seam.what).not.toThrow()
  }
})

test('each seeded defect has deterministic tests that must notice it', async () => {
  const paths = await Array.fromAsync(new Bun.Glob('test/**/*.test.ts').scan(root))
  const deterministic = paths.filter((path) => !path.startsWith('test/soak/'))
  const missing = defects
    .flatMap(({ tests }) => tests)
    .filter((start) => !deterministic.some((path) => path.startsWith(`test/${start}`)))
  expect(missing).toEqual([])
})
