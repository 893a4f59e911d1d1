/** Files above this size are read one after another, so that several at once do not take several times the memory. */
const largeBytes = 256 * 1024

/** Ends when the large files that came before are read. */
let filesBefore: Promise<void> = Promise.resolve()

/** The turn of one file among the large ones. A small file takes none, and waits for none. */
export class LargeFileTurn {
  private over: (() => void) | null = null

  /** Waits for the file's turn once more than {@link largeBytes} of it are known. */
  async takeIfLarge(bytes: number): Promise<void> {
    if (bytes <= largeBytes || this.over) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = filesBefore
    filesBefore = promise
    this.over = resolve
    await before
  }

  /** Must be called when the file has been read, or cannot be. */
  end(): void {
    this.over?.()
  }
}
