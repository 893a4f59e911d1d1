import type { Failure, Outcome } from './outcome.ts'
import { loggedPath } from './paths.ts'

/** A request as the log of its key has it: never a body, a header or anything of the query (decisions §18). */
export interface RequestEntry {
  /** When it arrived. */
  at: Date
  /** Null where `REQUEST_IDS=off`. */
  request_id: string | null
  method: string
  path: string
  status: number
  error: Failure | null
  /** Without the time for which it was held. */
  duration_ms: number
  /** It was answered with the stored response of an earlier one. */
  replayed: boolean
  sandbox: boolean
  address: string
  /** The fault of the sandbox that it met. */
  fault: string | null
}

/** Of an error, the log keeps so many problems, with so many characters of each message. */
export const loggedProblems = 20
export const loggedCharacters = 300

/** A request that was answered. */
export interface Answered {
  request: Request
  route: string
  path: string
  status: number
  requestId: string | undefined
  milliseconds: number
  isSandbox: boolean
}

/** The entry of a request that was answered. */
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
