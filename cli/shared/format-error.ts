import { ArgumentError, ConnectionError, PartnerError } from '../../client/src/index.ts'
import { ConfigError } from '../../src/core/config.ts'
import { DomainError, NotFoundError, type Problem } from '../../src/core/errors.ts'
import { reasonOf } from '../../src/core/file-errors.ts'
import { describeConnectionError } from '../partner/client.ts'
import { ChecksFailedError, exitCode, UsageError } from './errors.ts'
import { visible } from './output.ts'

/** Returns the message that a failed command prints on standard error, and its exit code (decisions §15). */
export function formatError(error: unknown): { text: string; code: number } {
  if (error instanceof UsageError || error instanceof ArgumentError || isParseError(error)) {
    return {
      text: `${(error as Error).message}\nRun the command with --help for its usage`,
      code: exitCode.usage,
    }
  }
  if (error instanceof ChecksFailedError) return { text: error.message, code: error.code }
  if (error instanceof ConfigError) return { text: error.message, code: exitCode.usage }
  if (error instanceof NotFoundError) return { text: error.administratorMessage, code: exitCode.failed }
  if (error instanceof DomainError)
    return { text: withProblems(error.message, error.problems), code: exitCode.failed }
  if (error instanceof PartnerError)
    return explainRefusal(error.reason, error.errors, error.status, error.requestId)
  if (error instanceof ConnectionError) {
    const message = describeConnectionError(error)
    if (error.status === 401 || error.status === 403) return explainRefusal(message, [], error.status)
    return { text: message, code: exitCode.failed }
  }
  if (isFileError(error))
    return { text: `Cannot use "${error.path}": ${reasonOf(error)}`, code: exitCode.failed }
  return { text: error instanceof Error ? error.message : String(error), code: exitCode.failed }
}

function explainRefusal(
  reason: string,
  problems: Pick<Problem, 'path' | 'message'>[],
  status: number,
  requestId?: string,
): { text: string; code: number } {
  const isRefused = status === 401 || status === 403
  const lines = [
    withProblems(`${reason} (${status})`, problems),
    ...(isRefused ? ['Check PARTNER_API_KEY, and ask your administrator about the permissions'] : []),
    ...(requestId ? [visible(`Request id: ${requestId}`)] : []),
  ]
  return { text: lines.join('\n'), code: isRefused ? exitCode.keyRefused : exitCode.failed }
}

function withProblems(message: string, problems: Pick<Problem, 'path' | 'message'>[]): string {
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
