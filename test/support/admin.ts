import { inject, vi } from 'vitest'
import { run } from '../../cli/run.ts'
import type { CommandResult } from './processes.ts'

/** The environment of administrators' commands. */
export const administrator = () => ({ MONGODB_URL: inject('mongodbUrl'), REDIS_URL: inject('redisUrl') })

/** The previous command; the next one waits for its end, because a process has only one output. */
let previous: Promise<unknown> = Promise.resolve()

/** Runs an administrator's command in this process, because starting another one takes longer than the command. */
export function partnerctlHere(args: string[], environment: Record<string, string>): Promise<CommandResult> {
  const result = previous.then(() => runHere(args, environment))
  previous = result.catch(() => {})
  return result
}

async function runHere(args: string[], environment: Record<string, string>): Promise<CommandResult> {
  const written = (name: 'stdout' | 'stderr') => {
    const chunks: string[] = []
    const write = vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      chunks.push(String(chunk))
      return true
    })
    return () => {
      write.mockRestore()
      return chunks.join('')
    }
  }
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  const [stdout, stderr] = [written('stdout'), written('stderr')]
  try {
    const code = await run(args)
    return { code, stdout: stdout(), stderr: stderr() }
  } finally {
    stdout()
    stderr()
    vi.unstubAllEnvs()
  }
}

export const admin = (...args: string[]) => partnerctlHere([...args, '--json'], administrator())
export async function adminJson(...args: string[]) {
  const { code, stdout, stderr } = await admin(...args)
  if (code !== 0) throw new Error(`partnerctl ${args.join(' ')}: ${code}, ${stderr}`)
  return JSON.parse(stdout)
}

export const permissionList = 'users.create,bookings.read'

/** Creates a host with a key through commands. */
export async function mintByCommand(...more: string[]) {
  const email = `${crypto.randomUUID()}@example.com`
  const host = await adminJson('hosts', 'create', '--name', 'Admin test', '--email', email)
  const permissions = more.includes('--permission') ? [] : ['--permission', permissionList]
  const args = ['--host', String(host.id), '--name', 'k', ...permissions, ...more]
  return adminJson('keys', 'mint', ...args)
}
