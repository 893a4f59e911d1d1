import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A disk of a few mebibytes, visible only to the processes started inside it. */
export interface SmallDisk {
  path: string
  /** Prefix for commands that must run where the disk is mounted. */
  inside: string[]
  /** Writes a file until the disk is full. */
  fill(): Promise<void>
  /** Deletes the file that filled the disk. */
  free(): Promise<void>
  /** Unmounts the disk; the processes on it must have exited. */
  end(): Promise<void>
}

const root = new URL('../..', import.meta.url).pathname

/** Mounts a disk in its own mount namespace and, if the user may not mount disks, in a user namespace as well. */
export async function mountSmallDisk(mebibytes: number): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'partner-disk-'))
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
  const mount = `mount -t tmpfs -o size=${mebibytes}m tmpfs ${path} && echo mounted && exec sleep 600`
  const holder = Bun.spawn(['unshare', ...user, '--mount', 'sh', '-c', mount], { stdout: 'pipe' })
  const { value } = await holder.stdout.getReader().read()
  if (!value) throw new Error('The disk could not be mounted')
  const inside = [
    'nsenter',
    ...(user.length > 0 ? ['--user', '--preserve-credentials'] : []),
    '--mount',
    '--target',
    String(holder.pid),
    `--wd=${root}`,
  ]
  const filler = join(path, 'filler')
  return {
    path,
    inside,
    async fill() {
      await Bun.$`${inside} dd if=/dev/zero of=${filler} bs=64k`.quiet().nothrow()
    },
    async free() {
      await Bun.$`${inside} rm ${filler}`
    },
    async end() {
      holder.kill('SIGKILL')
      await holder.exited
      await rmdir(path)
    },
  }
}
