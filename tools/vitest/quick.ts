import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nearestTests } from './nearest.ts'

/*
 * `bin/test quick`: the checks of types and lines, the deterministic tests of what has changed and, if they passed, those
 * of all routes if a route or a schema has changed (`nearest.ts`). It is for the edit loop of somebody who may be without
 * root, a browser, nginx or Prometheus. It proves less than `bin/test`, and says what it has left out.
 */

const root = join(import.meta.dirname, '../..')

/**
 * Maximum numbers of test files, so that a run ends within a minute: of those nearest to a change, which run first, and of
 * those of the client and of deployment, which run last.
 */
const maxNear = 12
const maxFar = 4

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

/** Returns those of the tests that this machine can run, the first `max` of them, and names the others. */
function possible(tests: string[], max: number): string[] {
  const chosen: string[] = []
  for (const test of tests) {
    const missing = missingFor(test)
    if (missing) console.log(`left to bin/test: ${test}, which needs ${missing}`)
    else if (chosen.length === max) console.log(`left to bin/test: ${test}`)
    else chosen.push(test)
  }
  return chosen
}

/** Runs tests and returns whether all of them passed. */
async function passed(tests: string[]): Promise<boolean> {
  if (tests.length === 0) return true
  const env = { ...process.env, QUICK_TESTS: '1' }
  const command = [process.execPath, '--bun', 'vitest', 'run', ...tests]
  const run = Bun.spawn(command, { cwd: root, env, stdout: 'inherit', stderr: 'inherit' })
  return (await run.exited) === 0
}

const { near, shared, far } = nearestTests(changedFiles())
const checks = await Promise.all(['check:types', 'check:style'].map(check))
const first = possible(near, maxNear)
const next = [...possible(shared, shared.length), ...possible(far, maxFar)]
if (first.length + next.length === 0) console.log('no test belongs to what has changed')
const nearPassed = await passed(first)
if (!nearPassed) for (const test of next) console.log(`not run, because nearer tests failed: ${test}`)
const allPassed = nearPassed && (await passed(next))
process.exit(checks.every(Boolean) && allPassed ? 0 : 1)
