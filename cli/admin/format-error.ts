import { ConfigError } from '../../src/core/config.ts'
import { DomainError, NotFoundError } from '../../src/core/errors.ts'
import { exitCode } from '../shared/errors.ts'
import { type Explanation, withProblems } from '../shared/format-error.ts'

/** Explains the service's own errors; returns undefined for any other error. */
export function formatServiceError(error: unknown): Explanation | undefined {
  if (error instanceof ConfigError) return { text: error.message, code: exitCode.usage }
  if (error instanceof NotFoundError) return { text: error.administratorMessage, code: exitCode.failed }
  if (error instanceof DomainError)
    return { text: withProblems(error.message, error.problems), code: exitCode.failed }
  return undefined
}
