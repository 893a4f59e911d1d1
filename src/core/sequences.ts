/** The kinds of ids, each with its own sequence. */
export const sequenceNames = [
  'host',
  'key',
  'user',
  'listing',
  'room_type',
  'room',
  'booking',
  'message',
  'availability_row',
  'rate_job',
  'webhook',
  'certification',
  'alarm',
] as const
export type SequenceName = (typeof sequenceNames)[number]

/** Allocates `amount` consecutive ids and returns the first. */
export type IdSource = (name: SequenceName, amount?: number) => Promise<number>

/**
 * Number of ids that a process reserves at a time, for kinds that are needed in large numbers. Nothing depends on the
 * order of these ids across processes.
 */
export const blockSizes: Partial<Record<SequenceName, number>> = {
  booking: 32,
  message: 32,
  user: 32,
  rate_job: 32,
  availability_row: 2000,
}
