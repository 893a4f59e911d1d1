import { readFile } from 'node:fs/promises'

/** True while a process with this id runs and may be signalled by this user. */
export function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The command line of a process, its words separated by spaces; empty if it has ended. */
export async function commandOf(pid: number): Promise<string> {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null)
  if (words !== null) return words.replaceAll('\0', ' ').trim()
  return (await Bun.$`ps -o args= -p ${pid}`.quiet().nothrow()).stdout.toString().trim()
}
