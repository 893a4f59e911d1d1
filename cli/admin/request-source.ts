import { findHost } from '../../src/access/hosts/store.ts'
import { findKey } from '../../src/access/keys/store.ts'
import { serializeRequest } from '../../src/access/requests/serialize.ts'
import { findRequests } from '../../src/access/requests/store.ts'
import { parseMoment } from '../../src/core/clock.ts'
import type { RequestOwner, RequestSource, WithAdminSource } from '../shared/requests.ts'
import { type Administration, withDatabase } from './administer.ts'
import { readKeyName } from './key-options.ts'

/** Calls `work` with a source that reads the database. */
export const withAdminSource: WithAdminSource = (owner, work) =>
  withDatabase(async (administration) => work(await adminSource(administration, owner)))

/**
 * Returns a source that reads the requests of a host, a key or all hosts from the database.
 *
 * @throws DomainError `not_found` for an unknown host or key; UsageError for a whole key
 */
async function adminSource(
  { db, clock }: Administration,
  { host, key }: RequestOwner,
): Promise<RequestSource> {
  const ofKey =
    key === undefined
      ? {}
      : await findKey(db, readKeyName(key)).then(({ id, host_id }) => ({ key_id: id, host_id }))
  const ofHost = host === undefined ? {} : { host_id: (await findHost(db, host)).id }
  const owner = { ...ofKey, ...ofHost }
  return async ({ statuses, requestId, since }, limit) => {
    const from = since === undefined ? undefined : (parseMoment(since) ?? undefined)
    const question = { ...owner, statuses, request_id: requestId, since: from }
    const found = await findRequests(db, question, limit, clock())
    return found.map((entry) => ({
      host_id: entry.host_id,
      key_id: entry.key_id,
      ...serializeRequest(entry),
    }))
  }
}
