/** Why an endpoint is off. */
export const disabledReasons = ['gone', 'failing', 'partner', 'administrator'] as const
export type DisabledReason = (typeof disabledReasons)[number]
