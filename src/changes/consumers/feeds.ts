/** The feeds that a consumer can have its place in. */
export const consumedFeeds = ['bookings', 'messages'] as const
export type ConsumedFeed = (typeof consumedFeeds)[number]
