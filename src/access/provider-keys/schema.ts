import { named, requestObject, requiredText, responseObject, shown } from '../../http/schema/fields.ts'

/** Body of `POST …/provider-key`. */
export const ProviderKeyWrite = named(
  'ProviderKeyWrite',
  requestObject({
    provider_api_key: requiredText(255, {
      trims: true,
      errorCode: 'required',
      description: "Host's own key at the provider, trimmed; stored encrypted and never shown again",
    }),
  }),
)

/** The outcome of storing a provider key (contract, Provider key outcome). */
export const outcomes = ['created', 'updated', 'unchanged'] as const
export type Outcome = (typeof outcomes)[number]

/** Response of `POST …/provider-key`. */
export const ProviderKeyResult = named(
  'ProviderKeyResult',
  responseObject({
    status: shown.word('Outcome of storing the key', ...outcomes),
    message: shown.text('Outcome in words'),
  }),
)
