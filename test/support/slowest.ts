import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

const shown = 10

/** Prints the slowest files at the end of a run, so that new slow tests are noticed. */
export default class Slowest implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules
      .map((module) => ({ name: relative('', module.moduleId), seconds: secondsOf(module) }))
      .sort((one, other) => other.seconds - one.seconds)
    const all = files.reduce((sum, { seconds }) => sum + seconds, 0)
    const rows = [...files.slice(0, shown), { name: `all ${files.length} files`, seconds: all }]
    const lines = rows.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${name}`)
    process.stdout.write(`\nThe slowest files:\n${lines.join('\n')}\n`)
  }
}

function secondsOf(module: TestModule): number {
  return module.diagnostic().duration / 1000
}
