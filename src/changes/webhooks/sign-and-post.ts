import type { AppContext } from '../../http/context.ts'
import type { Fault, FaultName } from '../../http/fault-rule.ts'
import type { SecretBox } from '../../platform/secrets/secret-box.ts'
import { deliveryId } from './deliveries-store.ts'
import type { Webhook, WebhookDelivery } from './model.ts'
import { awaitTurn, type OriginContext } from './origin-limit.ts'
import { type PostResult, postHint } from './post.ts'
import { makeWebhookSecret, signatureHeaders } from './signature.ts'

/** The context for posting a hint. */
export type SendContext = Pick<AppContext, 'db' | 'clock' | 'config' | 'secrets'> & OriginContext

type Posted = Pick<WebhookDelivery, '_id' | 'payload'>

/** Posts a delivery to its endpoint, once. */
export function signAndPost(app: SendContext, webhook: Webhook, delivery: Posted): Promise<PostResult> {
  // Receivers compare the timestamp with their own clock, but a secret's end follows the host's clock.
  const secrets = signingSecrets(app.secrets, webhook, app.clock(webhook.host_id))
  return postSigned(app, webhook, delivery, { at: app.clock(), secrets })
}

/** Returns the secrets that sign at a moment: two after a rotation, until the previous secret ends. */
function signingSecrets(secrets: SecretBox, webhook: Webhook, now: Date): string[] {
  return webhook.secrets
    .filter(({ ends_at }) => ends_at === null || ends_at > now)
    .map((secret) => secrets.open(secret))
}

function postSigned(
  { config }: SendContext,
  webhook: Webhook,
  delivery: Posted,
  { at, secrets }: { at: Date; secrets: string[] },
): Promise<PostResult> {
  const body = JSON.stringify(delivery.payload)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'partner-interface',
    ...signatureHeaders({ id: deliveryId(delivery), at, body }, secrets),
  }
  return postHint({ url: new URL(webhook.url), headers, body, allowsPrivate: config.webhooksAllowPrivate })
}

const oldMilliseconds = 600_000
/** Faults that add a second post. */
const twice: FaultName[] = ['hint_forged', 'hint_old', 'hint_twice']

/**
 * Makes a delivery's first attempt with a sandbox fault injected (decisions §22).
 *
 * @returns the result of the real post (null if none was made), and the status of the extra post, whose outcome does
 * not matter
 */
export async function postWithFault(
  app: SendContext,
  webhook: Webhook,
  delivery: Posted,
  { fault, delay_milliseconds }: Fault,
): Promise<{ result: PostResult | null; extraStatus: number | null }> {
  if (fault === 'hint_lost') return { result: null, extraStatus: null }
  if (fault === 'hint_late') await Bun.sleep(delay_milliseconds)
  const now = app.clock()
  let extra: PostResult | undefined
  // The real post's turn was already taken when its attempt began, so only the extra post waits for a turn.
  const mayPostTwice = twice.includes(fault) && (await awaitTurn(app, webhook.url))
  if (fault === 'hint_forged' && mayPostTwice)
    extra = await postSigned(app, webhook, delivery, { at: now, secrets: [makeWebhookSecret()] })
  if (fault === 'hint_old' && mayPostTwice) {
    const secrets = signingSecrets(app.secrets, webhook, app.clock(webhook.host_id))
    const at = new Date(now.getTime() - oldMilliseconds)
    extra = await postSigned(app, webhook, delivery, { at, secrets })
  }
  const result = await signAndPost(app, webhook, delivery)
  if (fault === 'hint_twice' && mayPostTwice) extra = await signAndPost(app, webhook, delivery)
  return { result, extraStatus: extra?.status ?? null }
}
