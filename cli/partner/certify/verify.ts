import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import { fetchPublicKeys, type Schemas } from '../../../client/src/index.ts'
import { ChecksFailedError, UsageError } from '../../shared/errors.ts'
import { requireSafeAddress } from '../profiles.ts'
import { keepFromProxy } from '../proxy.ts'

/** The claims of a report. */
export type ReportClaims = JWTPayload & {
  exp: number
  host: string
  key_name: string
  contract: string
  certification: Schemas['Certification']
}

/**
 * Verifies a report with the public keys of the service at `base`, or with the given keys. A key location named by the
 * report itself is never trusted.
 *
 * @param jwks text of a JSON Web Key Set to use instead of the service's keys
 * @throws ChecksFailedError if the report is invalid, expired, or from another service
 */
export async function verifyReport(report: string, base: string, jwks?: string): Promise<ReportClaims> {
  const issuer = base.replace(/\/+$/, '')
  const keys = jwks === undefined ? await fetchKeys(issuer) : parseKeys(jwks)
  try {
    const { payload } = await jwtVerify<ReportClaims>(report, createLocalJWKSet(keys), {
      algorithms: ['EdDSA'],
      issuer,
      requiredClaims: ['exp', 'iat', 'certification'],
      // Also rejects a report whose signing time is in the future.
      maxTokenAge: '366 days',
      clockTolerance: '1 minute',
    })
    if (typeof payload.certification !== 'object' || !Array.isArray(payload.certification?.profiles))
      throw new ChecksFailedError('The report is not genuine: it names no certification')
    return payload as ReportClaims
  } catch (error) {
    if (error instanceof errors.JOSEError)
      throw new ChecksFailedError(`The report is not genuine: ${error.message}`)
    throw error
  }
}

async function fetchKeys(base: string): Promise<JSONWebKeySet> {
  requireSafeAddress(base)
  keepFromProxy(base)
  const keys = await fetchPublicKeys(base)
  if (!isKeySet(keys)) throw new Error(`The public keys of ${base} are not a JSON Web Key Set`)
  return keys
}

function parseKeys(text: string): JSONWebKeySet {
  try {
    const keys = JSON.parse(text)
    if (isKeySet(keys)) return keys
  } catch {}
  throw new UsageError('The public keys are not a JSON Web Key Set')
}

function isKeySet(keys: unknown): keys is JSONWebKeySet {
  try {
    createLocalJWKSet(keys as JSONWebKeySet)
    return true
  } catch {
    return false
  }
}
