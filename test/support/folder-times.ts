import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** Prints, last of all, how long the tests of each folder took, so that whoever adds minutes sees where they went. */
export default class FolderTimes implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const folders = Map.groupBy(modules, ({ moduleId }) => folderOf(moduleId))
    const rows = [...folders]
      .map(([folder, files]) => ({ folder, files: files.length, seconds: secondsOf(files) }))
      .sort((one, other) => other.seconds - one.seconds)
    const total = rows.reduce((sum, { seconds }) => sum + seconds, 0)
    const lines = [...rows, { folder: 'all', files: modules.length, seconds: total }].map(
      ({ folder, files, seconds }) =>
        `${folder.padEnd(16)} ${String(files).padStart(4)} files ${seconds.toFixed(1).padStart(8)} s`,
    )
    process.stdout.write(`\n${lines.join('\n')}\n`)
  }
}

function folderOf(moduleId: string): string {
  return relative('test', relative(process.cwd(), moduleId)).split('/')[0] as string
}

function secondsOf(files: readonly TestModule[]): number {
  return files.reduce((sum, file) => sum + file.diagnostic().duration, 0) / 1000
}
