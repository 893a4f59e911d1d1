import { Writable } from 'node:stream'
import { standardError, standardOutput } from './streams.ts'

/** Returns a stream for protocol messages, which are written to standard output one after the other. */
export function messageStream(): Writable {
  return new Writable({
    decodeStrings: false,
    write: (text: string, _, done) => void standardOutput.writeInTurn(text).then(() => done(), done),
  })
}

/**
 * Returns a stream for what packages draw on the terminal, such as progress bars and questions. They write whenever
 * they like, so no caller could catch a failed write: the process ends at once.
 */
export function drawingStream(): Writable {
  const draw = (text: string, _: BufferEncoding, done: () => void) => {
    try {
      standardError.write(text)
    } catch {
      process.exit(1)
    }
    done()
  }
  const stream = new Writable({ decodeStrings: false, write: draw })
  return Object.defineProperties(stream, {
    isTTY: { get: () => standardError.isTerminal },
    columns: { get: () => standardError.columns },
  })
}
