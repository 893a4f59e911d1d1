/** The number that represents each booking status (decisions §6). */
export const bookingStatus = { pending: 1, confirmed: 2, cancelled: 3 } as const
export type StatusWord = keyof typeof bookingStatus
export type StatusNumber = (typeof bookingStatus)[StatusWord]

const words: Record<StatusNumber, StatusWord> = { 1: 'pending', 2: 'confirmed', 3: 'cancelled' }

/** Returns the status word for a status number. */
export function toStatusWord(status: StatusNumber): StatusWord {
  return words[status]
}
