/** Exit codes (decisions §15). */
export const exitCode = { done: 0, failed: 1, usage: 2, keyRefused: 4 } as const

/** Error thrown when a command is used incorrectly (exit code 2). */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Error thrown when one of a command's checks has failed. */
export class ChecksFailedError extends Error {
  override readonly name = 'ChecksFailedError'
  constructor(
    message: string,
    readonly code: number = exitCode.failed,
  ) {
    super(message)
  }
}
