import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

const shown = 10

/** Time without a result after which a run prints the files it waits for. Test timeouts do not cover imports. */
const silentMilliseconds = 5 * 60_000

/** Prints the files that a silent run is waiting for and, at the end of a run, the slowest files. */
export default class Progress implements Reporter {
  readonly #running = new Map<string, string>()
  #alarm: ReturnType<typeof setInterval> | undefined

  onTestModuleQueued({ moduleId }: TestModule): void {
    this.#running.set(relative('', moduleId), 'being imported')
    this.#heard()
  }

  onTestCaseReady({ module, fullName }: TestCase): void {
    this.#running.set(relative('', module.moduleId), fullName)
    this.#heard()
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#running.delete(relative('', moduleId))
    this.#heard()
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    clearInterval(this.#alarm)
    const files = modules
      .map((module) => ({ name: relative('', module.moduleId), seconds: secondsOf(module) }))
      .sort((one, other) => other.seconds - one.seconds)
    const all = files.reduce((sum, { seconds }) => sum + seconds, 0)
    const rows = [...files.slice(0, shown), { name: `all ${files.length} files`, seconds: all }]
    const lines = rows.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${name}`)
    process.stdout.write(`\nThe slowest files:\n${lines.join('\n')}\n`)
  }

  #heard(): void {
    clearInterval(this.#alarm)
    this.#alarm = setInterval(() => {
      const waiting = [...this.#running].map(([file, state]) => `  ${file}: ${state}`)
      process.stdout.write(
        `\nNo result for ${silentMilliseconds / 60_000} minutes. Running:\n${waiting.join('\n')}\n`,
      )
    }, silentMilliseconds)
  }
}

function secondsOf(module: TestModule): number {
  return module.diagnostic().duration / 1000
}
