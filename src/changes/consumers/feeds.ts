/** The feeds that a consumer can have its position in. */
export const consumedFeeds = ['bookings', 'messages'] as const
export type ConsumedFeed = (typeof consumedFeeds)[number]
