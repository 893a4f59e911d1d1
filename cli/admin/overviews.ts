import { defineCommand } from 'citty'
import { type ListedAction, listActions } from '../../src/access/audit/store.ts'
import { listAllCertifications } from '../../src/certification/store.ts'
import { consumersByLag } from '../../src/changes/consumers/lag.ts'
import { listOpenAlarms } from '../../src/changes/health/alarms/store.ts'
import { parseMoment, toTimestamp, toTimestampOrNull } from '../../src/core/clock.ts'
import { toVersion } from '../../src/host-clock/format.ts'
import { sandboxDatabase } from '../../src/sandbox/store.ts'
import { command, option } from '../shared/command.ts'
import { UsageError } from '../shared/errors.ts'
import { jsonText, printLine } from '../shared/output.ts'
import { limitArgument, oneOf, parseId } from '../shared/values.ts'
import { printEntries, withDatabase } from './administer.ts'

const listConsumers = command({
  meta: {
    name: 'list',
    description: 'List the consumers of all keys, the one with the oldest pending change first',
  },
  examples: ['partnerctl consumers list'],
  args: limitArgument('consumers'),
  run: ({ args }) =>
    printEntries(args, {
      find: ({ db, clock }) => consumersByLag(db, clock()),
      hint: () => 'the consumers furthest behind are shown first',
      toRow: ({ consumer, oldestPending }) => ({
        host_id: consumer.owner_id,
        key_id: consumer.key_id,
        feed: consumer.feed,
        name: consumer.name,
        acknowledged: consumer.acknowledged && toVersion(consumer.acknowledged),
        acknowledged_at: toTimestampOrNull(consumer.acknowledged_at),
        oldest_pending_at: toTimestampOrNull(oldestPending),
      }),
      columns: {
        HOST: 'host_id',
        KEY: 'key_id',
        FEED: 'feed',
        NAME: 'name',
        ACKNOWLEDGED: 'acknowledged',
        'ACKNOWLEDGED AT': 'acknowledged_at',
        'OLDEST PENDING': 'oldest_pending_at',
      },
    }),
})

const listAlarms = command({
  meta: { name: 'list', description: 'List the open alarms of all hosts on live data, oldest first' },
  examples: ['partnerctl alarms list'],
  args: limitArgument('alarms'),
  run: ({ args }) =>
    printEntries(args, {
      find: ({ db }) => listOpenAlarms(db),
      hint: () => 'the alarms that have been open for longest are shown first',
      toRow: ({ id, finding, owner_id, key_id, opened_at }) => ({
        alarm_id: id,
        ...finding,
        host_id: owner_id,
        key_id,
        opened_at: toTimestamp(opened_at),
      }),
      columns: {
        ALARM: 'alarm_id',
        HOST: 'host_id',
        KEY: 'key_id',
        CODE: 'code',
        SEVERITY: 'severity',
        SINCE: 'since',
        OPENED: 'opened_at',
        MESSAGE: 'message',
      },
    }),
})

const listCertifications = command({
  meta: { name: 'list', description: 'List the certifications of all keys, newest first' },
  examples: ['partnerctl certifications list --host 7'],
  args: {
    host: option('Only certifications of this host, by its id'),
    ...limitArgument('certifications', 50),
  },
  async run({ args }) {
    const hostId = args.host === undefined ? undefined : parseId(args.host)
    await printEntries(args, {
      find: ({ db }, limit) => listAllCertifications(sandboxDatabase(db), { hostId, limit }),
      hint: () => 'raise --limit to see older ones',
      toRow: (one) => ({
        id: one._id,
        host_id: one.host_id,
        key_id: one.key_id,
        profiles: one.profiles.join(', '),
        status: one.status,
        failed: one.cases.filter(({ status }) => status === 'failed').map(({ name }) => name),
        started_at: toTimestamp(one.started_at),
        ended_at: toTimestampOrNull(one.ended_at),
      }),
      columns: {
        ID: 'id',
        HOST: 'host_id',
        KEY: 'key_id',
        PROFILES: 'profiles',
        STATUS: 'status',
        FAILED: ({ failed }) => failed.join(', ') || null,
        STARTED: 'started_at',
        ENDED: 'ended_at',
      },
    })
  },
})

/** Number of entries read per query when all entries are printed. */
const pageEntries = 1000

function toAction({ at, reason, ...entry }: ListedAction) {
  const { id, user, machine, sudo_user, database_user, action, target } = entry
  return {
    id,
    at: toTimestamp(at),
    user,
    machine,
    sudo_user,
    database_user,
    action,
    target,
    reason: reason ?? null,
  }
}

/** @throws UsageError for anything but a date or an ISO time */
function readMoment(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const moment = parseMoment(text)
  if (!moment) throw new UsageError(`Option --${name} must be a date or an ISO time`)
  return moment
}

const listAudit = command({
  meta: {
    name: 'list',
    description:
      'List administrative actions and the changes that partners made to bookings and webhooks, latest first',
  },
  examples: [
    'partnerctl audit list --limit 100',
    'partnerctl audit list --since 2026-11-01 --until 2026-12-01 --output ndjson',
  ],
  args: {
    after: option('Continue with entries older than the entry with this id'),
    since: option('Only entries at or after this date or ISO time'),
    until: option('Only entries before this date or ISO time'),
    output: option('ndjson prints all entries, one per line, without a limit'),
    ...limitArgument('entries', 50),
  },
  async run({ args }) {
    if (args.output !== undefined) oneOf(['ndjson'], args.output)
    if (args.output !== undefined && args.json) throw new UsageError('Give either --output or --json')
    const question = {
      after: args.after,
      since: readMoment('since', args.since),
      until: readMoment('until', args.until),
    }
    if (args.output !== undefined) return streamActions(question)
    await printEntries(args, {
      find: ({ db }, limit) => listActions(db, question, limit),
      toRow: toAction,
      hint: ({ id }) => `continue with --after ${id}`,
      columns: {
        ID: 'id',
        AT: 'at',
        USER: 'user',
        MACHINE: 'machine',
        SUDO: 'sudo_user',
        DATABASE: 'database_user',
        ACTION: 'action',
        TARGET: 'target',
        REASON: 'reason',
      },
    })
  },
})

/** Prints all entries, one JSON document per line. */
function streamActions(question: Parameters<typeof listActions>[1]): Promise<void> {
  return withDatabase(async ({ db }) => {
    let { after } = question
    while (true) {
      const page = await listActions(db, { ...question, after }, pageEntries)
      for (const entry of page) await printLine(jsonText(toAction(entry)))
      if (page.length < pageEntries) return
      after = page.at(-1)?.id
    }
  })
}

export const consumers = defineCommand({ subCommands: { list: listConsumers } })
export const alarms = defineCommand({ subCommands: { list: listAlarms } })
export const certifications = defineCommand({ subCommands: { list: listCertifications } })
export const audit = defineCommand({ subCommands: { list: listAudit } })
