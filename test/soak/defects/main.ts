import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { copyProject } from '../../support/next-release.ts'
import { root } from '../../support/processes.ts'
import { type Defect, defects, filesOf } from './defects.ts'

/**
 * Introduces one defect at a time into a copy of the project, runs the tests that must catch it, and prints the result.
 * Exits with 1 if a defect is missed. Arguments select the defects whose file or description contains an argument.
 */
const wanted = process.argv.slice(2)

/** @throws Error unless the correct line occurs exactly once in all sources */
function fileOf(defect: Defect): string {
  const [file, ...others] = filesOf(defect)
  if (file === undefined || others.length > 0)
    throw new Error(`${defect.what}: "${defect.right}" occurs ${others.length + (file ? 1 : 0)} times`)
  return file
}

const chosen = defects
  .map((defect) => ({ ...defect, file: fileOf(defect) }))
  .filter(({ what, file }) => wanted.length === 0 || wanted.some((text) => `${what} ${file}`.includes(text)))

/** Names the project's own files and folders: a list by hand would lack the next one that a test imports. */
async function trackedParts(): Promise<string[]> {
  const paths = await Bun.$`git ls-files`.cwd(root).text()
  const names = paths.split('\n').map((path) => path.split('/')[0] ?? '')
  return [...new Set(names.filter(Boolean))]
}

/**
 * Returns the title of the first failed test, or null if no test failed.
 *
 * @throws Error if the tests do not run, which would look like a caught defect
 */
async function caughtBy(folder: string, tests: string[]): Promise<string | null> {
  const command = [process.execPath, '--bun', 'vitest', 'run', '--bail=1', '--reporter=json', ...tests]
  const child = Bun.spawn(command, { cwd: folder, stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) === 0) return null
  const start = output.indexOf('{"numTotal')
  const { testResults } = JSON.parse(output.slice(start).split('\n')[0] as string)
  const files: TestFile[] = testResults
  const failed = files.flatMap((file) => file.assertionResults).find(({ status }) => status === 'failed')
  if (failed) return failed.title
  const reasons = files.map(({ message }) => message).filter(Boolean)
  throw new Error(`The tests do not run: ${reasons.join('; ') || errors.slice(-1000)}`)
}

/** A test file, as the reporter describes it. */
interface TestFile {
  assertionResults: { status: string; title: string }[]
  /** Why the file does not load; empty if it does. */
  message: string
}

async function look(
  folder: string,
  { what, file, right, wrong, tests }: Defect & { file: string },
): Promise<boolean> {
  const path = join(folder, file)
  const source = await readFile(path, 'utf8')
  await writeFile(
    path,
    source.replace(right, () => wrong),
  )
  const start = performance.now()
  const title = await caughtBy(folder, tests)
  await writeFile(path, source)
  const seconds = Math.round((performance.now() - start) / 1000)
  console.log(`${title === null ? 'MISSED' : 'caught'}  ${String(seconds).padStart(4)} s  ${file}: ${what}`)
  if (title !== null) console.log(`                by "${title}"`)
  return title !== null
}

const folder = await copyProject(await trackedParts())
let missed = 0
for (const defect of chosen) if (!(await look(folder, defect))) missed += 1
await rm(folder, { recursive: true, force: true })
console.log(`${chosen.length - missed} of ${chosen.length} made defects were caught`)
process.exit(missed === 0 ? 0 : 1)
