import { DomainError } from '../../core/errors.ts'

/** The only integration provider (contract, Providers). */
export const supportedProvider = 'provider_one'

/** @throws DomainError `unsupported_provider` for any provider except {@link supportedProvider} */
export function requireProvider(provider: string | undefined): void {
  if (provider === supportedProvider) return
  const message = `Unsupported provider; the only supported one is "${supportedProvider}"`
  throw new DomainError('unsupported_provider', message)
}
