import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import type { CertificationView } from '../../src/sandbox/certification/schema.ts'
import { UnreachableError } from '../client/client.ts'
import { UsageError } from '../errors.ts'
import { ChecksFailedError } from '../findings.ts'

/** What a report says. */
export type ReportClaims = JWTPayload & {
  exp: number
  host: string
  key_name: string
  contract: string
  certification: CertificationView
}

/**
 * Verifies a report by the keys of the service that it says to be from, or by keys from a file: of the report itself nothing
 * is believed that says where keys are.
 *
 * @throws ChecksFailedError for one that is wrong, expired, or from another service
 */
export async function verifyReport(report: string, base: string, jwks?: string): Promise<ReportClaims> {
  const issuer = base.replace(/\/+$/, '')
  const keys = jwks === undefined ? await fetchKeys(issuer) : parseKeys(jwks)
  try {
    const { payload } = await jwtVerify<ReportClaims>(report, createLocalJWKSet(keys), {
      algorithms: ['EdDSA'],
      issuer,
      requiredClaims: ['exp', 'iat', 'certification'],
      // Also refuses one that was signed in the future.
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
  const response = await fetch(`${base}/.well-known/jwks.json`).catch(() => null)
  if (!response?.ok) throw new UnreachableError(`Cannot read the keys of ${base}`)
  return parseKeys(await response.text())
}

function parseKeys(text: string): JSONWebKeySet {
  try {
    const keys = JSON.parse(text)
    createLocalJWKSet(keys)
    return keys
  } catch {
    throw new UsageError('The public keys are not a JSON Web Key Set')
  }
}
