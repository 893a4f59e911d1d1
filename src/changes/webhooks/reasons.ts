/** Reasons why an endpoint is off. */
export const disabledReasons = ['gone', 'failing', 'partner', 'administrator', 'key_ended'] as const
export type DisabledReason = (typeof disabledReasons)[number]
