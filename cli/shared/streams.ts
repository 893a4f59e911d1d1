import { constants, fstatSync, readFileSync, statSync, write, writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { builtIn } from './built-in.ts'

/**
 * Owns the output of the command line. Nothing else in `cli/` writes to standard output or standard error.
 *
 * Without it, output that cannot be written would count as success (decisions §15): the runtimes' own streams report a
 * full disk or a closed pipe in an event that no command waits for, so a key would be lost and a poll would never end.
 * Here a write returns once the operating system has accepted the text, and throws if it has not.
 */

/** Error thrown when output cannot be written. It ends the command with exit code 1. */
export class OutputError extends Error {
  override readonly name = 'OutputError'
  /** True if the reader has closed the other end of a pipe, as `head` does when it has read enough. */
  readonly isReaderGone: boolean

  constructor(streamName: string, { code, errno = 0, message }: NodeJS.ErrnoException) {
    const [, reason = message] = builtIn('node:util').getSystemErrorMap().get(errno) ?? []
    super(`Cannot write to ${streamName}: ${reason}`)
    this.isReaderGone = code === 'EPIPE'
  }
}

/** How long a write pauses if a reader is slow and the stream was opened as non-blocking. */
const retryMilliseconds = 10

/** An output stream of the process. After its first failed write, nothing more is written to it. */
export class OutputStream {
  private failure: OutputError | undefined
  private lastWrite: Promise<void> = Promise.resolve()
  private waiting = 0

  constructor(
    private readonly name: 'standard output' | 'standard error',
    private descriptor: number,
  ) {}

  get isTerminal(): boolean {
    try {
      // Commands that run often usually write to a pipe or a file, which is no terminal.
      return fstatSync(this.descriptor).isCharacterDevice() && builtIn('node:tty').isatty(this.descriptor)
    } catch {
      return false
    }
  }

  /** Width of the terminal in characters; undefined without a terminal, or if the terminal does not report it. */
  get columns(): number | undefined {
    if (!this.isTerminal) return undefined
    return (this.name === 'standard output' ? process.stdout : process.stderr).columns || undefined
  }

  /**
   * True if the process was probably started with this stream closed. Node and Bun then open `/dev/null` for reading and
   * writing in its place, whereas a shell opens it for writing alone. Some programs that discard the output of others also
   * open it for both. False where `/proc` is missing.
   */
  get isReplaced(): boolean {
    try {
      const { rdev } = fstatSync(this.descriptor)
      if (rdev !== statSync('/dev/null').rdev) return false
      const facts = readFileSync(`/proc/self/fdinfo/${this.descriptor}`, 'utf8')
      const [, flags = '0'] = /^flags:\s*([0-7]+)$/m.exec(facts) ?? []
      return (Number.parseInt(flags, 8) & constants.O_RDWR) !== 0
    } catch {
      return false
    }
  }

  /** True while a write waits for a slow reader. */
  get isWaiting(): boolean {
    return this.waiting > 0
  }

  /**
   * Writes all of the text, and blocks this process until the operating system has accepted it.
   *
   * @throws OutputError if the text cannot be written; part of it may have been
   */
  write(text: string): void {
    for (let rest = Buffer.from(text); rest.length > 0; ) {
      if (this.failure) throw this.failure
      try {
        rest = rest.subarray(writeSync(this.descriptor, rest))
      } catch (error) {
        this.requireRetryable(error)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMilliseconds)
      }
    }
  }

  /**
   * Writes all of the text after what other calls are still writing. Commands that run until they are stopped use it,
   * because they must notice a signal even while their reader does not read.
   *
   * @throws OutputError if the text cannot be written; part of it may have been
   */
  async writeInTurn(text: string): Promise<void> {
    const written = this.lastWrite.then(() => this.writeAll(text))
    this.lastWrite = written.catch(() => {})
    this.waiting += 1
    await written.finally(() => {
      this.waiting -= 1
    })
  }

  /** Sends later output to another file descriptor, and forgets a failed write. */
  redirect(descriptor: number): void {
    this.descriptor = descriptor
    this.failure = undefined
  }

  private async writeAll(text: string): Promise<void> {
    for (let rest = Buffer.from(text); rest.length > 0; ) {
      if (this.failure) throw this.failure
      try {
        rest = rest.subarray(await writeSoon(this.descriptor, rest))
      } catch (error) {
        this.requireRetryable(error)
        await setTimeout(retryMilliseconds)
      }
    }
  }

  /** @throws OutputError unless the write only has to wait for the reader */
  private requireRetryable(error: unknown): void {
    const cause = error as NodeJS.ErrnoException
    if (cause.code === 'EAGAIN' || cause.code === 'EINTR') return
    this.failure = new OutputError(this.name, cause)
    throw this.failure
  }
}

/** Returns the number of bytes that were written. */
function writeSoon(descriptor: number, bytes: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, (error, written) => (error ? reject(error) : resolve(written)))
  })
}

export const standardOutput = new OutputStream('standard output', 1)
export const standardError = new OutputStream('standard error', 2)
