import { createHash, randomBytes } from 'node:crypto'
import { access, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'

/**
 * Locks of files that one process at a time may change: the profiles, and a poll's state file. Without them, the later
 * of two logins would remove the earlier one's profile, and two polls with one state file would skip changes.
 *
 * A process claims a file with a socket of its own next to it, on which it listens. The operating system closes the
 * socket however the process ends, so a claim is alive exactly as long as its process: a poll can be started again right
 * after a kill, and a new process with the same id is never mistaken for the holder. Node 20.3 and Bun have no other
 * lock in common that a kill releases.
 *
 *     look --another claim is alive--> wait, look again
 *      |
 *      +--listen on a new socket, look again--> another claim is alive, or the own one is gone: withdraw, wait, look again
 *                                          \--> otherwise: the file is locked
 *
 * If two processes claim a file at the same time, at least the one that looks later sees the other's claim. Only a
 * process whose own claim is alive removes dead ones. It may mistake a claim that is just being made for a dead one, but
 * then the process that makes it sees the other claim and withdraws.
 */

/** Error thrown when another process holds the lock. */
export class FileLockedError extends Error {
  override readonly name = 'FileLockedError'
  /** @param holder id of the process that holds the lock */
  constructor(readonly holder: string) {
    super(`Another process (${holder}) holds the lock`)
  }
}

/** Minimum wait, because two processes that claim a file at the same time may both withdraw. */
const collisionMilliseconds = 300

/** Pauses are random, so that processes that collided do not collide again. */
const pauseMilliseconds = { least: 5, most: 50 } as const

/**
 * Locks a file for this process, and returns a function that unlocks it.
 *
 * @param waitMilliseconds how long to wait until another process has released the lock
 * @throws FileLockedError if another process still holds the lock; any other error if no claim can be made
 */
export async function lockFile(
  file: string,
  waitMilliseconds = collisionMilliseconds,
): Promise<() => Promise<void>> {
  const deadline = performance.now() + waitMilliseconds
  const { folder, remove } = await shortFolder(dirname(resolve(file)))
  try {
    for (;;) {
      const claimed = await tryToClaim(folder, prefixOf(file), dirname(resolve(file)))
      if (typeof claimed === 'function') return claimed
      if (performance.now() >= deadline) throw new FileLockedError(claimed)
      const { least, most } = pauseMilliseconds
      await setTimeout(least + Math.random() * (most - least))
    }
  } finally {
    await remove()
  }
}

/**
 * Returns what the names of all claims to a file start with. The names are short, because operating systems limit the
 * length of a socket's path.
 */
function prefixOf(file: string): string {
  const hash = createHash('sha256').update(basename(file)).digest('hex').slice(0, 12)
  return `.lock-${hash}-`
}

/** Returns a function that gives the claim up, or the id of the process that has claimed the file. */
async function tryToClaim(
  folder: string,
  prefix: string,
  realFolder: string,
): Promise<(() => Promise<void>) | string> {
  const earlier = await findClaim(folder, prefix)
  if (earlier !== undefined) return earlier
  const name = `${prefix}${process.pid}-${randomBytes(4).toString('hex')}`
  const server = await listen(join(folder, name))
  const giveUp = async () => {
    await rm(join(realFolder, name), { force: true })
    server.close()
  }
  try {
    const other = await findClaim(folder, prefix, name)
    const isVisible = await access(join(folder, name)).then(
      () => true,
      () => false,
    )
    if (other === undefined && isVisible) return giveUp
    await giveUp()
    return other ?? 'unknown'
  } catch (error) {
    await giveUp()
    throw error
  }
}

/**
 * Returns the id of the process whose claim is alive; undefined if there is none.
 *
 * @param own this process's claim, which does not count; with it, dead claims are removed
 */
async function findClaim(folder: string, prefix: string, own?: string): Promise<string | undefined> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name !== own)
  for (const name of names) {
    const path = join(folder, name)
    if (await isAlive(path)) return name.slice(prefix.length).split('-')[0]
    if (own !== undefined) await rm(path, { force: true })
  }
  return undefined
}

/** True if a process listens on the socket. A process that is stopped, or too busy to accept, counts too. */
function isAlive(path: string): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      settle(true)
    })
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      settle(code !== 'ECONNREFUSED' && code !== 'ENOENT'),
    )
  })
}

function listen(path: string): Promise<Server> {
  return new Promise((settle, fail) => {
    const server = createServer((socket) => socket.destroy())
    server.once('listening', () => settle(server.unref()))
    server.once('error', (error: NodeJS.ErrnoException) => {
      // Bun's errors have the number without its sign.
      if (error.errno !== undefined) error.errno = -Math.abs(error.errno)
      fail(error)
    })
    server.listen(path)
  })
}

/**
 * Maximum length of the path of a folder in which a socket can be made: macOS allows 104 bytes, including the socket's
 * name. Node does not refuse a longer path, but makes a socket whose name is cut off.
 */
const maxFolderBytes = 65

/** Returns the folder, or a short link to it. */
async function shortFolder(folder: string): Promise<{ folder: string; remove(): Promise<void> }> {
  if (isShort(folder)) return { folder, remove: async () => {} }
  const parent = await mkdtemp(join(isShort(tmpdir()) ? tmpdir() : '/tmp', 'pctl-'))
  const link = join(parent, 'd')
  await symlink(folder, link)
  return { folder: link, remove: () => rm(parent, { recursive: true, force: true }) }
}

function isShort(folder: string): boolean {
  return Buffer.byteLength(folder) <= maxFolderBytes - '/pctl-123456/d'.length
}
