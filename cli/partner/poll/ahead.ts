import type { Ahead } from '../../../client/src/index.ts'
import { note } from '../../shared/output.ts'

/** Where a command has its position from, and how to begin again. */
const remedies = {
  state:
    'To start again, delete the state file, or pass --since with an earlier version; changes may come again',
  since: 'To start again, leave out --since or pass an earlier version',
  consumer:
    'To start again, delete the consumer, or move it back with "seek" (PUT …/consumers/<name>); changes may come again',
}

/** Says that a position is ahead of the feed (decisions §9), and how to start again. */
export function aheadText(
  feed: 'bookings' | 'messages',
  { after, newestVersion }: Ahead,
  source: keyof typeof remedies,
): string {
  const name = feed === 'bookings' ? 'booking' : 'message'
  const position = after === undefined ? 'The position of the consumer' : `The position "${after}"`
  const newest = newestVersion === null ? 'which is empty' : `whose newest version is "${newestVersion}"`
  return `${position} is ahead of the ${name} feed, ${newest}, so nothing can come: it is from another service or from before a restore. ${remedies[source]}`
}

/** Returns a function that says so when it is first called. */
export function noteAheadOnce(
  feed: 'bookings' | 'messages',
  source: keyof typeof remedies,
): (ahead: Ahead) => void {
  let isNoted = false
  return (ahead) => {
    if (isNoted) return
    isNoted = true
    note(aheadText(feed, ahead, source))
  }
}
