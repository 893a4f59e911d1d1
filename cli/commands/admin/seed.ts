import { seedDemo } from '../../../src/process/demo.ts'
import { command } from '../../command.ts'
import { note, print, record } from '../../output.ts'
import { administer } from './administer.ts'

export const seed = command({
  examples: ['partnerctl seed --json'],
  async run({ args }) {
    const { hostId, key, booking } = await administer('seed', 'demo host', seedDemo, { record: 'upfront' })
    const shown = { host_id: hostId, key, user_id: booking.user_id, listing_id: booking.listing_id }
    print(args, shown, record)
    note('Save the key now: it is not shown again')
  },
})
