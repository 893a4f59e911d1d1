import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

/** Content of a package's files, by path within the package. */
export type PackageFiles = Map<string, Uint8Array | string>

/** The time that npm's own archives give to every file, so that the bytes do not depend on when they were made. */
const constantTime = new Date('1985-10-26T08:15:00.000Z')

/** Position of the byte in a gzip header that names the operating system (RFC 1952, 2.3), and its value "unknown". */
const systemByte = 9
const unknownSystem = 255

/**
 * Packs files as `npm pack` does, into a gzipped archive of a folder named `package`.
 *
 * The bytes depend only on the files (decisions §30): the order, times, modes and owners of the entries are fixed.
 * Otherwise, two processes behind one proxy would serve different checksums for the same version.
 */
export async function packArchive(files: PackageFiles): Promise<Uint8Array> {
  const archive = pack()
  const paths = [...files.keys()].sort()
  for (const path of paths) {
    const header = {
      name: `package/${path}`,
      mode: path.endsWith('.mjs') ? 0o755 : 0o644,
      mtime: constantTime,
      uid: 0,
      gid: 0,
    }
    archive.entry(header, Buffer.from(files.get(path) ?? ''))
  }
  archive.finalize()
  const compressed = gzipSync(await buffer(archive), { level: 9 })
  compressed[systemByte] = unknownSystem
  return compressed
}
