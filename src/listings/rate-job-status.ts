/** What can have become of a rates write (decisions §20). */
export const rateJobStatuses = ['waiting', 'applied', 'failed'] as const
export type RateJobStatus = (typeof rateJobStatuses)[number]
