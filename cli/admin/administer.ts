import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { confirm as ask, isCancel } from '@clack/prompts'
import type { ArgsDef } from 'citty'
import { recordAction } from '../../src/access/audit/store.ts'
import { type Clock, maxSkewSeconds, systemClock } from '../../src/core/clock.ts'
import { type Config, readConfig } from '../../src/core/config.ts'
import { canonicalEmail } from '../../src/core/email.ts'
import { isMissingFile, reasonOf } from '../../src/core/file-errors.ts'
import type { IdSource } from '../../src/core/sequences.ts'
import { sequenceIds } from '../../src/platform/ids/id-source.ts'
import { measureSkew } from '../../src/platform/mongo/clock-watch.ts'
import type { Db, Session } from '../../src/platform/mongo/connection.ts'
import { inAmbientTransaction } from '../../src/platform/mongo/turns/ambient-transaction.ts'
import { type OpenOptions, openDatabase } from '../../src/process/open-context.ts'
import { flag, option } from '../shared/command.ts'
import { UsageError } from '../shared/errors.ts'
import { drawingStream } from '../shared/package-streams.ts'
import { type Columns, printList } from '../shared/table.ts'
import { parseLimit, printUpTo } from '../shared/values.ts'

/** The resources available to an administrator's command. */
export interface Administration {
  db: Db
  clock: Clock
  config: Config
  ids: IdSource
  /** The database address, including the password. */
  mongodbUrl: string
}

/** Opens the database at `MONGODB_URL` or in `DATA_DIR` for one command, and closes it afterwards. */
export async function withDatabase<T>(
  work: (administration: Administration) => Promise<T>,
  opening: OpenOptions = {},
): Promise<T> {
  // Commands use Redis only to announce changes, and few of them need the secret.
  const config = readConfig(process.env, ['MONGODB_URL'])
  if (!config.mongodbUrl) await requireData(config.dataDir)
  const database = await openDatabase(config, { noTimeouts: true, ...opening })
  try {
    const { db, url } = database
    return await work({ db, clock: systemClock, config, ids: sequenceIds(db), mongodbUrl: url })
  } finally {
    await database.close()
  }
}

/** @throws Error if the folder has no database, because the command would otherwise create an empty one */
async function requireData(dataDir: string): Promise<void> {
  await stat(join(dataDir, 'mongodb')).catch((error) => {
    if (!isMissingFile(error)) throw new Error(`Cannot open the database in ${dataDir}: ${reasonOf(error)}`)
    throw new Error(`There is no database in ${dataDir}: set DATA_DIR or MONGODB_URL as for the service`)
  })
}

/**
 * Opens the database with {@link withDatabase} for a command that changes data and writes the audit entry itself.
 *
 * @throws Error if this machine's clock is so far off that it would write wrong dates
 */
export function withSoundClock<T>(work: (administration: Administration) => Promise<T>): Promise<T> {
  return withDatabase(async (administration) => {
    const skewSeconds = await measureSkew(administration.db)
    if (Math.abs(skewSeconds) > maxSkewSeconds)
      throw new Error(
        `The clock of this machine is ${skewSeconds.toFixed(0)} s off the database's: nothing was changed`,
      )
    return work(administration)
  })
}

/** How a command's audit entry is written, and what follows. */
export interface Recording<T> {
  /**
   * `wrap`: the entry is written in the same transaction as the action. `caller`: the action itself calls
   * `inAuditedTransaction`, or calls `record` in its own transaction. `upfront`: the entry is written before an action
   * that takes many transactions.
   */
  record?: 'wrap' | 'caller' | 'upfront'
  /** Reason for the action, in the administrator's words. */
  reason?: string | null
  /** Called once the action is committed, for example to announce it to the running processes. */
  afterwards?: (administration: Administration, done: T) => Promise<void>
}

/** Maximum length of a reason, in characters. */
const maxReason = 1000

/** Option for the reason that the audit log records for an action. */
export const reasonArgument = {
  reason: option('Why, for the audit log', 'text'),
} as const satisfies ArgsDef

/** @throws UsageError for a reason that is too long */
export function readReason(text: string | undefined): string | null {
  const trimmed = text?.trim() || null
  if (trimmed && [...trimmed].length > maxReason)
    throw new UsageError(`Option --reason takes at most ${maxReason} characters`)
  return trimmed
}

/**
 * Reads the value of `--email`.
 *
 * @throws UsageError for a text that is not an e-mail address
 */
export function readEmail(text: string): string {
  if (canonicalEmail(text) === null) throw new UsageError(`"${text}" is not a valid e-mail address`)
  return text
}

/** The resources available to a command that changes something. */
export interface Act extends Administration {
  /** Writes the audit entry for an action on a host's data, in the action's own transaction if it has one. */
  record(session: Session | null, ownerId: number, reason?: string | null): Promise<void>
  /**
   * Changes a host's data and writes the audit entry in one transaction, which all model operations of `change` join.
   *
   * @param ownerId null for actions on hosts and keys themselves
   * @param keepsReason returns false if the result's guest is erased; no reason is then stored (decisions §26)
   */
  inAuditedTransaction<T>(
    ownerId: number | null,
    change: () => Promise<T>,
    keepsReason?: (done: T) => boolean,
  ): Promise<T>
}

/**
 * Runs a command's action and writes its audit entry. Every action has an entry and every entry has an action, except
 * that an `upfront` action may fail after its entry was written. Changes to hosts and keys use `wrap`. Only entries
 * written with `caller` name a host. `work` may run more than once, so it must print nothing.
 */
export async function administer<T>(
  action: string,
  target: string,
  work: (act: Act) => Promise<T>,
  { record = 'wrap', reason: why = null, afterwards }: Recording<T> = {},
): Promise<T> {
  return withSoundClock(async (administration) => {
    const { db, clock } = administration
    const write = (session: Session | null, owner_id: number | null, reason: string | null = why) =>
      recordAction(db, { owner_id, at: clock(), action, target, reason }, session)
    const together = <R>(owner_id: number | null, change: () => Promise<R>, keepsReason = (_: R) => true) =>
      inAmbientTransaction(db, async (session) => {
        const done = await change()
        await write(session, owner_id, keepsReason(done) ? why : null)
        return done
      })
    const act: Act = { ...administration, record: write, inAuditedTransaction: together }
    if (record === 'upfront') await write(null, null)
    const done = record === 'wrap' ? await together(null, () => work(act)) : await work(act)
    await afterwards?.(administration, done)
    return done
  })
}

/** How a list is read from the database and displayed. */
interface Listing<T, Row> {
  /** Reads up to `limit` entries. */
  find(administration: Administration, limit: number): Promise<T[]>
  toRow(entry: T): Row
  columns: Columns<Row>
  /** Returns text that tells the user how to list the entries after the last one shown. */
  hint(last: T): string
}

/**
 * Prints the first entries of a list, as many as `--limit` allows.
 *
 * @throws UsageError for a limit that is not valid
 */
export async function printEntries<T, Row>(
  args: { limit: string; json?: boolean | undefined },
  { find, toRow, columns, hint }: Listing<T, Row>,
): Promise<void> {
  const limit = parseLimit(args.limit)
  await withDatabase(async (administration) => {
    const found = await find(administration, limit + 1)
    printUpTo(found, limit, { show: (shown) => printList(args, shown.map(toRow), columns), hint })
  })
}

/** Option for commands whose effect cannot be undone. */
export const yesArgument = {
  yes: flag('Do not ask for confirmation (without a terminal nothing is asked anyway)'),
} as const satisfies ArgsDef

/**
 * Asks the user to confirm an action that cannot be undone. Does not ask without a terminal, because a script's author
 * has already decided.
 *
 * @throws Error if the user declines or cancels; nothing has been changed at that point
 */
export async function confirm(args: { yes?: boolean | undefined }, effect: string): Promise<void> {
  if (args.yes || !process.stdin.isTTY) return
  const message = `${effect} This cannot be undone. Continue?`
  const answer = await ask({ message, initialValue: false, output: drawingStream() })
  if (isCancel(answer) || !answer) throw new Error('Nothing was changed')
}
