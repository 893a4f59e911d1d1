import {
  ArgumentError,
  ConnectionError,
  describeNetworkError,
  PartnerError,
  type Problem,
} from '../../client/src/index.ts'
import { exitCode } from '../shared/errors.ts'
import { type Explanation, explainError, explainUsage, withProblems } from '../shared/format-error.ts'
import { visible } from '../shared/output.ts'

/** Explains the errors of partners' commands. */
export function formatError(error: unknown): Explanation {
  if (error instanceof ArgumentError) return explainUsage(error)
  if (error instanceof PartnerError)
    return explainRefusal(error.reason, error.errors, error.status, error.requestId)
  if (error instanceof ConnectionError) {
    const message = describeConnectionError(error)
    if (error.status === 401 || error.status === 403) return explainRefusal(message, [], error.status)
    return { text: message, code: exitCode.failed }
  }
  return explainError(error)
}

/** Returns a sentence that tells the user why a request got no response from the service. */
export function describeConnectionError({
  message,
  root,
  status,
  cause,
  networkCause,
}: ConnectionError): string {
  if (root === undefined) return message
  if (status === undefined) return `Cannot reach ${root}: ${describeNetworkError(cause)}`
  if (networkCause !== undefined) return `${root} dropped the connection: ${describeNetworkError(cause)}`
  if (status >= 400) return `${root} responded ${status}`
  if (status < 300) return `The response of ${root} is not from the partner interface`
  return `${root} redirects to another address; use the address of the service itself`
}

function explainRefusal(
  reason: string,
  problems: readonly Problem[],
  status: number,
  requestId?: string,
): Explanation {
  const isRefused = status === 401 || status === 403
  const lines = [
    withProblems(`${reason} (${status})`, problems),
    ...(isRefused ? ['Check PARTNER_API_KEY, and ask your administrator about the permissions'] : []),
    ...(requestId ? [visible(`Request id: ${requestId}`)] : []),
  ]
  return { text: lines.join('\n'), code: isRefused ? exitCode.keyRefused : exitCode.failed }
}
