import { DomainError } from '../errors.ts'

/** The one integration provider there is (contract, Providers). */
export const supportedProvider = 'provider_one'

/** @throws DomainError `unsupported_provider` for any other one */
export function requireProvider(provider: string | undefined): void {
  if (provider === supportedProvider) return
  const message = `Unsupported provider; the only supported one is "${supportedProvider}"`
  throw new DomainError('unsupported_provider', message)
}
