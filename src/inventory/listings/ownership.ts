import { DomainError } from '../../core/errors.ts'

/** 403 of a bulk write that names listings of another host. */
export function foreignListings(paths: { path: string; message: string }[]): DomainError {
  const problems = paths.map((entry) => ({ ...entry, code: 'forbidden' as const }))
  return new DomainError('forbidden', 'Unauthorized access to listings', problems)
}
