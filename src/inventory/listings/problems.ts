import { DomainError, type Problem } from '../../core/errors.ts'

/** Returns the 403 error for a bulk write that references another host's listings. */
export function foreignListings(paths: { path: string; message: string }[]): DomainError {
  const problems = paths.map((entry) => ({ ...entry, code: 'forbidden' as const }))
  return new DomainError('forbidden', 'Unauthorized access to listings', problems)
}

/** Returns the problem for a bulk item whose room type does not belong to its listing. */
export function unknownRoomType(index: number): Problem {
  const path = `data.${index}.room_type_id`
  return { path, code: 'invalid', message: `"${path}" is not a room type of the listing` }
}
