import { Elysia } from 'elysia'
import packageJson from '../../package.json' with { type: 'json' }
import { findKeyById } from '../access/keys/store.ts'
import { DomainError } from '../core/errors.ts'
import { jsonContentType } from '../http/answer/envelope.ts'
import type { AppContext } from '../http/context.ts'
import type { Caller } from '../http/request.ts'
import { publicSigningKeys, signingKey } from '../platform/secrets/signing-keys.ts'
import { cacheFor } from '../platform/time-limits.ts'
import type { SandboxContext } from '../sandbox/sandbox-context.ts'
import type { Certification } from './model.ts'
import { serializeCertification } from './serialize.ts'

const validSeconds = 365 * 86_400

/**
 * Returns a passed certification's signed report: a compact JWS (Ed25519) that is valid for a year (decisions §25).
 *
 * @throws DomainError `conflict` if the certification has not passed
 */
export async function reportOf(
  { liveDb, secrets, config, clockWatch }: SandboxContext,
  { host }: Caller,
  certification: Certification,
): Promise<string> {
  if (certification.status !== 'passed')
    throw new DomainError(
      'conflict',
      `Only a passed certification has a report; this one is ${certification.status}`,
    )
  const now = clockWatch.databaseNow()
  // Every copy of a report has the same issue time, which is the time at which the certification passed.
  const issued = Math.floor((certification.ended_at ?? now).getTime() / 1000)
  const { kid, algorithm, privateKey } = await signingKey(liveDb, secrets, now)
  const { name } = await findKeyById(liveDb, certification.key_id)
  const { cases, progress: _, ...rest } = serializeCertification(certification)
  const claims = {
    host: host.name,
    key_name: name,
    contract: packageJson.version,
    certification: { ...rest, cases: cases.map(({ request_ids: _, ...one }) => one) },
  }
  const { SignJWT } = await import('jose')
  return new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, kid, typ: 'JWT' })
    .setIssuer(config.publicUrl)
    .setIssuedAt(issued)
    .setExpirationTime(issued + validSeconds)
    .sign(privateKey)
}

/**
 * How long the published keys are cached. Caching only delays the publication of a new key, which has not signed
 * any earlier report.
 */
const sharedSeconds = 5

/** Route for the keys that verify reports. It needs no API key. All processes return the same keys (decisions §25). */
export function jwksRoutes({ liveDb }: Pick<AppContext, 'liveDb'>) {
  const read = cacheFor(sharedSeconds * 1000, () => publicSigningKeys(liveDb))
  return new Elysia({ detail: { hide: true } }).get('/.well-known/jwks.json', async ({ set }) => {
    const keys = await read()
    set.headers['content-type'] = jsonContentType
    set.headers['cache-control'] = `public, max-age=${sharedSeconds}`
    return { keys }
  })
}
