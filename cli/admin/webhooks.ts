import { defineCommand } from 'citty'
import { listDeliveries } from '../../src/changes/webhooks/deliveries-store.ts'
import { serializeDelivery, serializeWebhook } from '../../src/changes/webhooks/manage/serialize.ts'
import { turnOn } from '../../src/changes/webhooks/manage/turn-on.ts'
import type { Webhook, WebhookDelivery } from '../../src/changes/webhooks/model.ts'
import { findWebhookOfAnyHost, listWebhooks } from '../../src/changes/webhooks/store.ts'
import { type SwitchContext, turnOff } from '../../src/changes/webhooks/turn-off.ts'
import { toTimestamp } from '../../src/core/clock.ts'
import { toVersion } from '../../src/host-clock/format.ts'
import { command, option, positional } from '../shared/command.ts'
import { print, record } from '../shared/output.ts'
import { printList } from '../shared/table.ts'
import { limitArgument, parseId } from '../shared/values.ts'
import { printEntries, readReason, reasonArgument, withDatabase, withSoundClock } from './administer.ts'

function toRecord(webhook: Webhook) {
  return { ...serializeWebhook(webhook), host_id: webhook.owner_id, ...toGap(webhook) }
}

/** Returns the versions after which a partner must read the feeds to catch up after the webhook's last outage. */
function toGap({ last_outage: gap }: Webhook) {
  return {
    bookings_after: gap && toVersion(gap.bookings_after),
    messages_after: gap && toVersion(gap.messages_after),
  }
}

const list = command({
  meta: { name: 'list', description: 'List the live webhooks of all hosts' },
  examples: ['partnerctl webhooks list', 'partnerctl webhooks list --host 12'],
  args: { host: option('Only this host, by id'), ...limitArgument('webhooks') },
  async run({ args }) {
    const hostId = args.host === undefined ? 'all' : parseId(args.host)
    await printEntries(args, {
      find: ({ db }, limit) => listWebhooks(db, hostId, limit),
      toRow: toRecord,
      hint: () => 'use --host',
      columns: {
        ID: 'id',
        HOST: 'host_id',
        URL: 'url',
        EVENTS: ({ events }) => events.join(', '),
        STATE: ({ enabled, disabled_reason }) => (enabled ? 'on' : `off (${disabled_reason})`),
        'OFF SINCE': 'disabled_at',
        KEY: 'created_by',
      },
    })
  },
})

function toDeliveryRecord(delivery: WebhookDelivery) {
  // Live deliveries have no faults.
  const { fault: _, ...shown } = serializeDelivery(delivery)
  return { ...shown, created_at: toTimestamp(delivery.created_at) }
}

const deliveries = command({
  meta: { name: 'deliveries', description: 'List the last deliveries of a webhook, newest first' },
  examples: ['partnerctl webhooks deliveries 7'],
  args: { id: positional('Id of the webhook') },
  async run({ args }) {
    const id = parseId(args.id)
    await withDatabase(async ({ db, clock }) => {
      const found = await findWebhookOfAnyHost(db, id)
      const rows = (await listDeliveries(db, found, clock())).map(toDeliveryRecord)
      printList(args, rows, {
        ID: 'id',
        EVENT: 'event',
        BOOKING: 'booking_id',
        STATUS: 'status',
        ATTEMPTS: 'attempts',
        RESPONSE: 'response_status',
        MS: 'milliseconds',
        ERROR: 'error',
        DETAIL: 'error_detail',
        'NEXT ATTEMPT': 'next_attempt_at',
        MADE: 'created_at',
      })
    })
  },
})

/** Defines a command that turns a webhook off or on. */
function switchCommand(name: 'disable' | 'enable', description: string) {
  return command({
    meta: { name, description },
    examples: [`partnerctl webhooks ${name} 7`],
    args: {
      id: positional('Id of the webhook'),
      ...(name === 'disable' ? reasonArgument : {}),
    },
    async run({ args }) {
      const id = parseId(args.id)
      const reason = readReason(args.reason)
      const webhook = await withSoundClock(async ({ db, clock }) => {
        const found = await findWebhookOfAnyHost(db, id)
        const live: SwitchContext = { db, clock, environment: { name: 'live' } }
        if (name === 'enable') await turnOn(live, found, { reason })
        else await turnOff(live, found, { reason: 'administrator' }, { reason })
        return findWebhookOfAnyHost(db, id)
      })
      print(args, toRecord(webhook), (row) =>
        record({ ...row, events: row.events.join(', '), enabled: String(row.enabled) }),
      )
    },
  })
}

export const webhooks = defineCommand({
  subCommands: {
    list,
    deliveries,
    disable: switchCommand(
      'disable',
      'Turn a webhook off until its partner or `enable` turns it on; pending hints are dropped',
    ),
    enable: switchCommand(
      'enable',
      'Turn a webhook on, starting with the next change; shows the versions after which the partner must read the feeds',
    ),
  },
})
