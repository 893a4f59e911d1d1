import { erasedText } from '../messages/store.ts'
import { erasedName, erasedPerson } from '../users/erased.ts'

/**
 * The stored response to a request about a guest, in its erased form: what tells of the person has the value that is stored
 * in its place, wherever in the body it stands.
 */
export function eraseResponse(body: string, userId: number): string {
  const values: Record<string, unknown> = {
    ...erasedPerson(userId),
    ...{ special_requests: null, cancellation_reason: null, notes: null, text: erasedText },
  }
  const erase = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(erase)
    if (typeof value !== 'object' || value === null) return value
    const isGuest = (value as { sender?: unknown }).sender !== 'host'
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => {
        if (name === 'sender_name') return [name, isGuest ? erasedName : part]
        return [name, name in values ? values[name] : erase(part)]
      }),
    )
  }
  const { data, ...rest } = JSON.parse(body)
  return JSON.stringify({ data: erase(data), ...rest })
}
