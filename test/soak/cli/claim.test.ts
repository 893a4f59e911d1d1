import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { node } from '../../support/command-line.ts'
import { root } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const kills = 40 * soakFactor

async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').filter(Boolean)
}

test('processes in Node and in Bun that are killed at any moment never hold a file at the same time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-claim-'))
  const { outputs } = await Bun.build({
    entrypoints: [join(root, 'test/soak/cli/claim-holder.program.ts')],
    target: 'node',
    outdir: folder,
    naming: '[name].mjs',
  })
  const [{ path: program } = { path: '' }] = outputs
  const file = join(folder, 'state.json')
  const start = (at: number) =>
    Bun.spawn([at % 2 === 0 ? node : process.execPath, program, file], {
      stdout: 'ignore',
      stderr: 'inherit',
    })
  const running = Array.from({ length: 6 }, (_, at) => start(at))
  onTestFinished(() => {
    for (const child of running) child.kill('SIGKILL')
  })
  for (let kill = 0; kill < kills; kill += 1) {
    const before = (await linesOf(`${file}.turns`)).length
    // Each killed holder must be followed by another one.
    await expect.poll(async () => (await linesOf(`${file}.turns`)).length).toBeGreaterThan(before + 3)
    const at = kill % running.length
    running[at]?.kill('SIGKILL')
    running[at] = start(at)
  }
  expect(await linesOf(`${file}.overlaps`)).toEqual([])
})
