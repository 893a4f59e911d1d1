import type { Failure, Outcome } from './outcome.ts'
import { loggedPath } from './paths.ts'

/** A request as its key's log shows it. It never contains a body, a header or any part of the query (decisions §18). */
export interface RequestEntry {
  /** Time of arrival. */
  at: Date
  /** Null if `REQUEST_IDS=off`. */
  request_id: string | null
  method: string
  path: string
  status: number
  error: Failure | null
  /** Duration in milliseconds, excluding the time for which the request was held. */
  duration_ms: number
  /** True if the response is the stored response to an earlier request. */
  replayed: boolean
  sandbox: boolean
  address: string
  /** The sandbox fault that the request met; null if there was none or a certification hides it. */
  fault: string | null
}

/** Maximum number of problems that the log keeps per error. */
export const loggedProblems = 20
/** Maximum number of characters that the log keeps per message. */
export const loggedCharacters = 300

/** A request that has been answered. */
export interface Answered {
  request: Request
  route: string
  path: string
  status: number
  requestId: string | undefined
  milliseconds: number
  isSandbox: boolean
}

/** Returns the log entry of a request that has been answered. */
export function toEntry(answered: Answered, outcome: Outcome): RequestEntry {
  const { request, route, path, status, requestId, milliseconds, isSandbox } = answered
  const { at = new Date(), failure, address = '', isReplayed = false, isFaultSecret = false } = outcome
  const fault = isFaultSecret ? null : (outcome.fault ?? null)
  return {
    at,
    request_id: requestId ?? null,
    method: request.method,
    path: loggedPath(route, path),
    status,
    error: failure ? shorten(failure) : null,
    duration_ms: milliseconds,
    replayed: isReplayed,
    sandbox: isSandbox,
    address,
    fault,
  }
}

function shorten({ type, message, errors }: Failure): Failure {
  const problems = errors.slice(0, loggedProblems)
  return {
    type,
    message: cut(message),
    errors: problems.map((problem) => ({ ...problem, message: cut(problem.message) })),
  }
}

function cut(text: string): string {
  return text.length > loggedCharacters ? `${text.slice(0, loggedCharacters - 1)}…` : text
}
