import { DomainError } from '../../core/errors.ts'
import { type PlaceHolder, Places } from '../../platform/outgoing/places.ts'

/** Returns the places for readings in one process: those that are due, and those that hosts ask for (decisions §31). */
export function newReadingPlaces(): Places {
  return new Places({ total: 4, share: 2 })
}

/**
 * Returns the places for checks of files in one process (decisions §31). Large files are read one after another, so each
 * check holds up all that come later.
 */
export function newCheckPlaces(): Places {
  return new Places({ total: 2, share: 1 })
}

/** Time that a host's request waits for a place. */
const waitMilliseconds = 5000

/**
 * Does work that a host asks for once there is a place.
 *
 * @throws DomainError `conflict` with a retry time if there is none for five seconds
 */
export async function inPlace<T>(places: Places, holder: PlaceHolder, work: () => Promise<T>): Promise<T> {
  const place = await places.wait(holder, waitMilliseconds)
  if (!place) throw new DomainError('conflict', 'Too many calendars are being read; try again', [], 1)
  try {
    return await work()
  } finally {
    place.free()
  }
}
