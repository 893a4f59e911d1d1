import { defineCommand } from 'citty'
import { toTimestamp } from '../../../src/core/clock.ts'
import { listingStatuses } from '../../../src/inventory/listings/schema.ts'
import { findListingOfAnyHost, setListingStatus } from '../../../src/inventory/listings/store.ts'
import { command } from '../../command.ts'
import { print, record } from '../../output.ts'
import { oneOf, parseId } from '../../values.ts'
import { administer, readReason, reasonArgument } from './administer.ts'

const status = command({
  meta: { name: 'status', description: 'Move a listing to another status' },
  examples: ['partnerctl listings status 2001 published'],
  args: {
    id: { type: 'positional', required: true, description: 'Id of the listing' },
    status: { type: 'positional', required: true, description: listingStatuses.join(', ') },
    ...reasonArgument,
  },
  async run({ args }) {
    const id = parseId(args.id)
    const wanted = oneOf(listingStatuses, args.status)
    const reason = readReason(args.reason)
    const listing = await administer(
      'listings status',
      `listing ${id} ${wanted}`,
      async (act) => {
        const { host_id } = await findListingOfAnyHost(act.db, id)
        return act.together(host_id, () => setListingStatus(act, { id, host_id }, wanted))
      },
      { record: 'caller', reason },
    )
    const { host_id, listing_status, content, updated_at } = listing
    const shown = { id, host_id, name: content.name, listing_status, updated_at: toTimestamp(updated_at) }
    print(args, shown, record)
  },
})

export const listings = defineCommand({
  subCommands: { status },
})
