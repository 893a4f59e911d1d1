/** The groups of operations, in the order in which a partner meets them. */
export const tags = [
  { name: 'Host', description: 'The host account that the key acts for' },
  { name: 'Key', description: 'What the key itself may do, and what is left of its limit' },
  { name: 'Users', description: 'The guests of the host: they are created once and then book' },
  {
    name: 'Listings',
    description: 'The houses of the host, with their room types, prices, texts and pictures',
  },
  { name: 'Availability', description: 'How many units of a room type are left on each day' },
  { name: 'Rates', description: 'Monthly prices of room types, pushed in bulk' },
  { name: 'Bookings', description: 'Stays of users in room types' },
  { name: 'Booking feed', description: 'New and changed bookings, polled without ever missing one' },
  { name: 'Consumers', description: 'Places in the feeds, kept for pollers without a disk' },
  { name: 'Webhooks', description: 'Hints beside the feeds: what was sent, what became of it' },
  { name: 'Messages', description: 'The conversation with the guest of a booking' },
  { name: 'Provider key', description: "The host's own key at the integration provider" },
  { name: 'Sandbox', description: 'The same operations on mock data, where nothing can be harmed' },
]
