import { ChecksFailedError, exitCode, UsageError } from './errors.ts'
import { reasonOf } from './file-errors.ts'
import { visible } from './output.ts'

/** The text that a failed command prints on standard error, and its exit code (decisions §15). */
export interface Explanation {
  text: string
  code: number
}

/** Explains the errors that all commands can throw. */
export function explainError(error: unknown): Explanation {
  if (error instanceof UsageError || isParseError(error)) return explainUsage(error as Error)
  if (error instanceof ChecksFailedError) return { text: error.message, code: error.code }
  if (isFileError(error))
    return { text: `Cannot use "${error.path}": ${reasonOf(error)}`, code: exitCode.failed }
  return { text: error instanceof Error ? error.message : String(error), code: exitCode.failed }
}

export function explainUsage({ message }: Error): Explanation {
  return { text: `${message}\nRun the command with --help for its usage`, code: exitCode.usage }
}

/** Appends a line for each problem to a message. */
export function withProblems(
  message: string,
  problems: readonly { path: string; message: string }[],
): string {
  return [message, ...problems.map(({ path, message: detail }) => `  ${path}: ${detail}`)]
    .map(visible)
    .join('\n')
}

/** True for the file system's own errors, which no command has put into words. */
function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'path' in error
}

/** True for citty's own errors, such as a missing argument or an unknown command. */
function isParseError(error: unknown): boolean {
  return error instanceof Error && error.name === 'CLIError'
}
