import { mongo } from 'mongoose'

const { BSON } = mongo
const { ByteUtils } = BSON.onDemand

const pageBytes = 65_536
/** More than the driver's own buffer, which is replaced only by a larger one. */
const bufferPages = (17 * 1024 * 1024) / pageBytes + 1

/**
 * Gives the driver's serializer a buffer of fresh pages, which take up memory only once they are written to. Its own
 * buffer of 17 MiB may lie where the runtime has read the program's files before; it is then filled with zeros, and all
 * of it stays in memory. Without this, a service takes up to 17 MiB more, depending on the order in which its files
 * happened to be read.
 */
export function serializeInFreshPages(): void {
  const { allocate } = ByteUtils
  ByteUtils.allocate = () => Buffer.from(freshPages(bufferPages))
  BSON.setInternalBufferSize(bufferPages * pageBytes)
  ByteUtils.allocate = allocate
}

/** Unlike other buffers, the memory of WebAssembly always comes from the system. */
function freshPages(pages: number): ArrayBuffer {
  return new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer
}
