import { visible } from '../text.ts'
import type { RequestRow } from './source.ts'

/** A request as lines for a person: one line and, for a failure, why it failed. Nothing in it makes a line of its own. */
export function describeRequest(row: RequestRow): string {
  const { at, status, method, path, duration_ms, request_id, replayed, error, fault } = row
  const owner = row.key_id === undefined ? [] : [`host ${row.host_id} key ${row.key_id}`]
  const parts = [
    `${at.slice(0, 19)}Z`,
    status === 0 ? 'unanswered' : status,
    `${method} ${path}`,
    ...owner,
    `${duration_ms} ms${replayed ? ', replayed' : ''}${fault ? `, ${fault}` : ''}`,
    request_id ?? '-',
  ]
  const problems =
    error?.errors.map((problem) => `${problem.path}: ${problem.message} (${problem.code})`) ?? []
  const why = error ? [`${error.message} (${error.type})`, ...problems] : []
  return [parts.join('  '), ...why.map((line) => `    ${line}`)].map(visible).join('\n')
}
