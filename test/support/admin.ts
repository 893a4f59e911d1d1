import { inject } from 'vitest'
import { partnerctl } from './processes.ts'

/** The environment of administrators' commands. */
export const administrator = () => ({ MONGODB_URL: inject('mongodbUrl'), REDIS_URL: inject('redisUrl') })
export const admin = (...args: string[]) => partnerctl([...args, '--json'], administrator())
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
