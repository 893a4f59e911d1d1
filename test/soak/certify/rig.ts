import { verifyWebhook } from '../../../client/src/index.ts'
import type { CertificationView } from '../../../src/certification/schema.ts'
import type { Actor } from '../../support/app.ts'
import type { NextAction, StoredBooking } from './product/habits.ts'

/** The actions that a course can ask of a product. */
export interface Certifiable {
  start(): void
  kill(): void
  close(): Promise<void>
  act(asked: NextAction): Promise<void>
  register(verify: typeof verified): Promise<void>
  readonly stored: Map<number, StoredBooking>
}

/** Verifies a hint's signature and time, as products do. */
export const verified = (headers: Headers, body: string, secret: string) =>
  verifyWebhook(body, headers, secret)

/**
 * Plays a whole course with a product that follows `next`; returns the graded certification.
 *
 * @param look reads the certification directly, because its routes allow only sixty requests a minute per key
 */
export async function certify(
  actor: Pick<Actor, 'send'>,
  product: Certifiable,
  { profiles, seed }: { profiles: string[]; seed?: string | undefined },
  look: (id: number) => Promise<CertificationView>,
): Promise<CertificationView> {
  const path = '/sandbox/certifications'
  const id = await begin(actor, path, { profiles, ...(seed ? { seed } : {}) })
  const upload = (bookings: StoredBooking[]) =>
    actor.send('PUT', `${path}/${id}/state`, { body: { bookings }, repeatWhileBusy: true })
  let done = ''
  try {
    for (;;) {
      const certification = await look(id)
      if (certification.status !== 'running') return certification
      const asked = certification.next
      if (asked && JSON.stringify(asked) !== done) {
        done = JSON.stringify(asked)
        await follow(product, asked as NextAction, profiles, upload)
      }
      await Bun.sleep(150)
    }
  } finally {
    await product.close()
  }
}

/** Starts a certification. If the process dies before it responds, finds the certification that it started. */
async function begin(actor: Pick<Actor, 'send'>, path: string, body: object): Promise<number> {
  // Repeats a request that a busy machine could not serve in time, as partners do.
  const started = await actor.send('POST', path, { body, repeatWhileBusy: true })
  if (started.status === 201) return started.body.data.id
  const [newest] = (await actor.send('GET', path)).body.data
  if (started.status !== 409 || newest?.status !== 'running') throw new Error(started.text)
  return newest.id
}

async function follow(
  product: Certifiable,
  asked: NextAction,
  profiles: string[],
  upload: (bookings: StoredBooking[]) => Promise<unknown>,
): Promise<void> {
  if (asked.action === 'stop') product.kill()
  else if (asked.action === 'start') {
    product.start()
    if (profiles.includes('webhooks') && !profiles.includes('feed')) await product.register(verified)
  } else if (asked.action === 'upload_state') await upload([...product.stored.values()])
  // Not awaited, because `next` may change while the product retries. A product that gives up fails its case.
  else void product.act(asked).catch(() => {})
}

/** Returns the names of the failed cases. */
export function failedCases({ cases }: CertificationView): string[] {
  return cases.filter(({ status }) => status === 'failed').map(({ name }) => name)
}
