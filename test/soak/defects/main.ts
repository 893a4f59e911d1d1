import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { copyProject } from '../../support/next-release.ts'
import { root } from '../../support/processes.ts'
import { type Defect, defects } from './defects.ts'
import { findSeams, type Seam, withDefect } from './seam.ts'

/**
 * Introduces one defect at a time into a copy of the project, runs the tests that must catch it, and prints the result.
 * Exits with 1 if a defect is missed. Arguments select the defects whose file or description contains an argument.
 */
const wanted = process.argv.slice(2)

const seams = await findSeams()

/** @throws Error unless exactly one place in the sources keeps the defect's promise */
function seamOf({ what }: Defect): Seam {
  const [seam, ...others] = seams.filter((candidate) => candidate.what === what)
  if (seam === undefined || others.length > 0)
    throw new Error(`"If this breaks: ${what}" occurs ${others.length + (seam ? 1 : 0)} times`)
  return seam
}

const chosen = defects
  .map((defect) => ({ ...defect, seam: seamOf(defect) }))
  .filter(
    ({ what, seam }) => wanted.length === 0 || wanted.some((text) => `${what} ${seam.file}`.includes(text)),
  )

/** Names the project's own files and folders: a list by hand would lack the next one that a test imports. */
async function trackedParts(): Promise<string[]> {
  const paths = await Bun.$`git ls-files`.cwd(root).text()
  const names = paths.split('\n').map((path) => path.split('/')[0] ?? '')
  return [...new Set(names.filter(Boolean))]
}

/** A defect may keep tests waiting for what never comes, so they wait a minute in place of five. */
const options = [
  '--bail=1',
  '--maxWorkers=1',
  '--reporter=json',
  '--testTimeout=60000',
  '--expect.poll.timeout=30000',
]

/**
 * Returns the title of the first failed test, or null if no test failed.
 *
 * @throws Error if the tests do not run, which would look like a caught defect
 */
async function caughtBy(folder: string, tests: string[]): Promise<string | null> {
  const command = [process.execPath, '--bun', 'vitest', 'run', ...options, ...tests]
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

async function isCaught(
  folder: string,
  { what, edit, seam, tests }: Defect & { seam: Seam },
): Promise<boolean> {
  const path = join(folder, seam.file)
  await writeFile(path, withDefect(seam, edit))
  const start = performance.now()
  const title = await caughtBy(
    folder,
    tests.map((test) => `test/${test}`),
  )
  await writeFile(path, seam.source)
  const seconds = Math.round((performance.now() - start) / 1000)
  console.log(
    `${title === null ? 'MISSED' : 'caught'}  ${String(seconds).padStart(4)} s  ${what} (${seam.file})`,
  )
  if (title !== null) console.log(`                by "${title}"`)
  return title !== null
}

const folder = await copyProject(await trackedParts())
let missed = 0
for (const defect of chosen) if (!(await isCaught(folder, defect))) missed += 1
await rm(folder, { recursive: true, force: true })
console.log(`${chosen.length - missed} of ${chosen.length} seeded defects were caught`)
process.exit(missed === 0 ? 0 : 1)
