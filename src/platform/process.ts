import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'

/** Returns true if a process with this id is running and the current user may signal it. */
export function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Returns a process's command line with its arguments separated by spaces; empty if the process has exited. */
export async function commandOf(pid: number): Promise<string> {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null)
  if (words !== null) return words.replaceAll('\0', ' ').trim()
  return (await Bun.$`ps -o args= -p ${pid}`.quiet().nothrow()).stdout.toString().trim()
}

/** Returns the requested loopback port if it is free, otherwise any free port. */
export function freePort(wanted = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', () => (wanted === 0 ? reject(new Error('No free port')) : resolve(freePort())))
    server.listen(wanted, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
