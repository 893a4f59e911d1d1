import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/*
 * `bin/test quick`: the checks of types and lines, and the deterministic tests of what has changed, for the edit loop of
 * somebody who may be without root, a browser, nginx or Prometheus. It proves less than `bin/test`, and says what it has
 * left out.
 */

const root = join(import.meta.dirname, '../..')

/** Maximum number of test files in a run, so that it ends within a minute. The nearest to a change come first. */
const maxFiles = 12

/** Programs that only some tests need, and the words by which their tests are recognized. */
const programs = {
  chromium: ['support/browser', 'chromium'],
  nginx: ['support/nginx', "'nginx'", '/nginx/'],
  prometheus: ['support/prometheus', 'promtool'],
  openssl: ['support/tls', 'support/certificates', 'support/nginx', "'openssl'"],
  'systemd-analyze': ['systemd-analyze'],
  'redis-server': ['redisUrl', 'support/redis', 'support/databases'],
}

function git(...args: string[]): string[] {
  const { stdout, exitCode } = Bun.spawnSync(['git', ...args], { cwd: root })
  if (exitCode !== 0) return []
  return stdout.toString().split('\n').filter(Boolean)
}

/** Returns the files that differ from what the other developers have: commits of one's own and everything uncommitted. */
function changedFiles(): string[] {
  const [base = 'HEAD'] = git('merge-base', 'HEAD', 'origin/main')
  const tracked = git('diff', '--name-only', base)
  const untracked = git('ls-files', '--others', '--exclude-standard')
  return [...new Set(tracked.concat(untracked))]
}

/**
 * Returns the tests of a file: a test itself, or the tests in the folder that mirrors the file's own or, if there is no
 * such folder, its parent's.
 */
function testsOf(path: string): string[] {
  if (path.startsWith('test/soak/')) return []
  if (path.endsWith('.test.ts')) return existsSync(join(root, path)) ? [path] : []
  const mirrored = path.replace(/^src\//, '').replace(/^client\/src\//, 'client/')
  let folder = dirname(mirrored)
  while (folder !== '.') {
    const tests = testsIn(join('test', folder))
    if (tests.length > 0) return tests
    folder = dirname(folder)
  }
  return []
}

function testsIn(folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.test.ts'))
  return names.map((name) => join(folder, name))
}

/** Returns a program that a test needs and this machine lacks. */
function missingFor(test: string): string | undefined {
  const source = readFileSync(join(root, test), 'utf8')
  for (const [program, words] of Object.entries(programs))
    if (!hasProgram(program) && words.some((word) => source.includes(word))) return program
}

function hasProgram(name: string): boolean {
  const path = `${process.env.PATH}:/usr/sbin`
  if (name === 'chromium')
    return Bun.which('chromium-headless-shell') !== null || Bun.which('chromium') !== null
  return Bun.which(name, { PATH: path }) !== null
}

/** Runs a command, shows its output only if it fails, and returns whether it succeeded. */
async function check(name: string): Promise<boolean> {
  const child = Bun.spawn([process.execPath, 'run', name], { cwd: root, stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  const succeeded = (await child.exited) === 0
  console.log(`${name}: ${succeeded ? 'passed' : 'FAILED'}`)
  if (!succeeded) console.log(output + errors)
  return succeeded
}

const changed = changedFiles()
const wanted = [...new Set(changed.flatMap(testsOf))]
const possible: string[] = []
for (const test of wanted) {
  const missing = missingFor(test)
  if (missing) console.log(`left to bin/test: ${test}, which needs ${missing}`)
  else possible.push(test)
}
const own = possible.filter((test) => changed.includes(test))
const others = possible.filter((test) => !changed.includes(test))
const ordered = own.concat(others)
for (const test of ordered.slice(maxFiles)) console.log(`left to bin/test: ${test}`)
const chosen = ordered.slice(0, maxFiles)

const checks = await Promise.all(['check:types', 'check:style'].map(check))
if (chosen.length === 0) console.log('no test belongs to what has changed')
let testsPassed = true
if (chosen.length > 0) {
  const env = { ...process.env, QUICK_TESTS: '1' }
  const command = [process.execPath, '--bun', 'vitest', 'run', ...chosen]
  const run = Bun.spawn(command, { cwd: root, env, stdout: 'inherit', stderr: 'inherit' })
  testsPassed = (await run.exited) === 0
}
process.exit(checks.every(Boolean) && testsPassed ? 0 : 1)
