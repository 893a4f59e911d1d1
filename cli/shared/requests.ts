import type { Schemas } from '../../client/src/index.ts'
import type { AnyCommand } from './command.ts'

/** A logged request; an administrator also sees its host and key. */
export type RequestRow = Partial<{ host_id: number; key_id: number }> & Schemas['Request']

/** Criteria that select the requests to show. */
export interface RequestSearch {
  statuses?: string[] | undefined
  requestId?: string | undefined
  /** Only requests that arrived at this time or later. */
  since?: string | undefined
}

/** Returns at most `limit` of the most recent requests, newest first. */
export type RequestSource = (search: RequestSearch, limit: number) => Promise<RequestRow[]>

/** The host or key whose requests an administrator wants to see; all hosts if neither is given. */
export interface RequestOwner {
  host?: string | undefined
  key?: string | undefined
}

/** Calls `work` with a source that reads the requests of a host, a key or all hosts for an administrator. */
export type WithAdminSource = <T>(
  owner: RequestOwner,
  work: (read: RequestSource) => Promise<T>,
) => Promise<T>

/**
 * The commands and options that `requests` has in the service's installation only. The caller passes them in, because no
 * file of the partners' commands opens the database.
 */
export interface RequestAdministration {
  withAdminSource(): Promise<WithAdminSource>
  top(): Promise<AnyCommand>
}
