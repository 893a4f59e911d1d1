import type { RequestRow } from './source.ts'

/** A request as lines for a person: one line and, for a failure, why it failed. */
export function describeRequest(row: RequestRow): string {
  const { at, status, method, path, duration_ms, request_id, replayed, error } = row
  const owner = row.key_id === undefined ? [] : [`host ${row.host_id} key ${row.key_id}`]
  const line = [
    `${at.slice(0, 19)}Z  ${status}  ${method} ${path}`,
    ...owner,
    `${duration_ms} ms${replayed ? ', replayed' : ''}`,
    request_id ?? '-',
  ].join('  ')
  if (!error) return line
  const problems = error.errors.map(({ path: place, code, message }) => `    ${place}: ${message} (${code})`)
  return [line, `    ${error.message} (${error.type})`, ...problems].join('\n')
}
