import { visible } from '../text.ts'
import type { RequestRow } from './source.ts'

/** A request as lines for a person: one line and, for a failure, why it failed. */
export function describeRequest(row: RequestRow): string {
  const { at, status, method, path, duration_ms, request_id, replayed, error, fault } = row
  const owner = row.key_id === undefined ? [] : [`host ${row.host_id} key ${row.key_id}`]
  const line = [
    `${visible(at).slice(0, 19)}Z  ${status}  ${visible(method)} ${visible(path)}`,
    ...owner,
    `${duration_ms} ms${replayed ? ', replayed' : ''}${fault ? `, ${visible(fault)}` : ''}`,
    visible(request_id ?? '-'),
  ].join('  ')
  if (!error) return line
  const problems = error.errors.map(
    ({ path: place, code, message }) => `    ${visible(`${place}: ${message} (${code})`)}`,
  )
  return [line, `    ${visible(`${error.message} (${error.type})`)}`, ...problems].join('\n')
}
