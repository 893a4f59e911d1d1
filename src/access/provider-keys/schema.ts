import {
  output,
  requestObject,
  requiredText,
  responseObject,
  withTitle,
} from '../../http/input/schema/fields.ts'

/** Body of `POST …/provider-key`. */
export const ProviderKeyWrite = withTitle(
  'ProviderKeyWrite',
  requestObject({
    provider_api_key: requiredText(255, {
      trims: true,
      errorCode: 'required',
      description: "Host's own key at the provider, trimmed; stored encrypted and never shown again",
    }),
  }),
)

/** Possible outcomes of storing a provider key (contract, Provider key outcome). */
export const outcomes = ['created', 'updated', 'unchanged'] as const
export type Outcome = (typeof outcomes)[number]

/** Response of `POST …/provider-key`. */
export const ProviderKeyResult = withTitle(
  'ProviderKeyResult',
  responseObject({
    status: output.literal('Outcome of storing the key', ...outcomes),
    message: output.text('Outcome in words'),
  }),
)
