import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A disk of few mebibytes, seen only by the processes started inside of it. */
export interface SmallDisk {
  path: string
  /** Put before a command, this runs it where the disk is mounted. */
  inside: string[]
  /** Writes a file until nothing more goes in; gives its size in MiB. */
  fill(): Promise<number>
  /** Takes that file away. */
  free(): Promise<void>
  /** Ends what runs on the disk by the ids given, and unmounts it. */
  end(): Promise<void>
}

const root = new URL('../..', import.meta.url).pathname

/** Mounts the disk in a mount namespace of its own; a user who may not mount gets a user namespace for it. */
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
    ...['--mount', '--target', String(holder.pid), `--wd=${root}`],
  ]
  const filler = join(path, 'filler')
  return {
    path,
    inside,
    async fill() {
      await Bun.$`${inside} dd if=/dev/zero of=${filler} bs=64k`.quiet().nothrow()
      return Math.round(Number(await Bun.$`${inside} stat -c %s ${filler}`.text()) / 1024 ** 2)
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
