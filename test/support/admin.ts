import { closeSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, vi } from 'vitest'
import { program } from '../../cli/program.ts'
import { run } from '../../cli/shared/program.ts'
import { standardError, standardOutput } from '../../cli/shared/streams.ts'
import { KeyedQueue } from '../../src/platform/keyed-queue.ts'
import { busy } from '../../src/platform/mongo/errors.ts'
import { isServedFile } from './command-line.ts'
import { type CommandResult, partnerctl } from './processes.ts'

/** Returns the environment variables for administrators' commands. */
export const administrator = () => ({ MONGODB_URL: inject('mongodbUrl'), REDIS_URL: inject('redisUrl') })

/** Runs one command at a time, because commands share this process's output and environment. */
const turns = new KeyedQueue(5 * 60_000, busy)

/**
 * Runs a command in this process, because starting another process takes longer than most commands.
 *
 * @param given a file to use as standard output, such as `/dev/full`
 */
export function partnerctlHere(
  args: string[],
  environment: Record<string, string>,
  given?: string,
): Promise<CommandResult> {
  return turns.run('partnerctl', async () => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    const folder = await mkdtemp(join(tmpdir(), 'partner-output-'))
    const stdout = given ?? join(folder, 'stdout')
    const stderr = join(folder, 'stderr')
    try {
      const code = await runWithOutput(args, stdout, stderr)
      const printed = given === undefined ? await readFile(stdout, 'utf8') : ''
      return { code, stdout: printed, stderr: await readFile(stderr, 'utf8') }
    } finally {
      vi.unstubAllEnvs()
      await rm(folder, { recursive: true })
    }
  })
}

/**
 * Runs a partner's command that ends by itself, reads no standard input and opens no connection: in this process, or as
 * the file that partners get, if the suite runs with that file.
 */
export const partnerctlQuickly = isServedFile ? partnerctl : partnerctlHere

/** Runs a command whose standard output and standard error are these files; returns its exit code. */
async function runWithOutput(args: string[], stdout: string, stderr: string): Promise<number> {
  const out = openSync(stdout, 'w')
  const error = openSync(stderr, 'w')
  standardOutput.redirect(out)
  standardError.redirect(error)
  try {
    return await run(program, args)
  } finally {
    standardOutput.redirect(1)
    standardError.redirect(2)
    closeSync(out)
    closeSync(error)
  }
}

export const admin = (...args: string[]) => partnerctlHere([...args, '--json'], administrator())
export async function adminJson(...args: string[]) {
  const { code, stdout, stderr } = await admin(...args)
  if (code !== 0) throw new Error(`partnerctl ${args.join(' ')}: ${code}, ${stderr}`)
  return JSON.parse(stdout)
}

export const permissionList = 'users.create,bookings.read'

/** Creates a host with a key by running commands. */
export async function mintByCommand(...more: string[]) {
  const email = `${crypto.randomUUID()}@example.com`
  const host = await adminJson('hosts', 'create', '--name', 'Admin test', '--email', email)
  const permissions = more.includes('--permission') ? [] : ['--permission', permissionList]
  const args = ['--host', String(host.id), '--name', 'k', ...permissions, ...more]
  return adminJson('keys', 'mint', ...args)
}
