import { defineCommand } from 'citty'
import type { Host } from '../../src/access/hosts/model.ts'
import { createHost, listHosts, setHostSuspended, updateHost } from '../../src/access/hosts/store.ts'
import { findKeysOfHost } from '../../src/access/keys/store.ts'
import { toTimestamp, toTimestampOrNull } from '../../src/core/clock.ts'
import { command, option, positional, requiredOption } from '../shared/command.ts'
import { UsageError } from '../shared/errors.ts'
import { print, record } from '../shared/output.ts'
import { afterArgument, limitArgument, parseId } from '../shared/values.ts'
import {
  type Act,
  type Administration,
  administer,
  confirm,
  printEntries,
  readEmail,
  readReason,
  reasonArgument,
  yesArgument,
} from './administer.ts'
import { announceKeys, readNewName, turnOffWebhooks } from './key-options.ts'

const create = command({
  meta: { name: 'create', description: 'Create a host account' },
  examples: ['partnerctl hosts create --name "Casa Gràcia" --email host@example.com'],
  args: {
    name: requiredOption('Name of the host'),
    email: requiredOption('E-mail address, unique among hosts'),
  },
  async run({ args }) {
    readNewName(args.name)
    readAddress(args.email)
    const { id, name, email } = await administer('hosts create', args.email, ({ db, clock }) =>
      createHost(db, clock, args),
    )
    print(args, { id, name, email }, record)
  },
})

const list = command({
  meta: { name: 'list', description: 'List host accounts, lowest id first' },
  examples: ['partnerctl hosts list --json', 'partnerctl hosts list --limit 100 --after 100'],
  args: { ...limitArgument('hosts'), ...afterArgument('hosts') },
  async run({ args }) {
    const after = args.after ? parseId(args.after) : 0
    await printEntries(args, {
      find: ({ db }, limit) => listHosts(db, { after, limit }),
      toRow: toRecord,
      hint: ({ id }) => `continue with --after ${id}`,
      columns: { ID: 'id', NAME: 'name', EMAIL: 'email', CREATED: 'created_at', SUSPENDED: 'suspended_at' },
    })
  },
})

const hostArgument = {
  host: positional('Id or e-mail address of the host'),
} as const

const update = command({
  meta: { name: 'update', description: 'Change the name or the e-mail address of a host' },
  examples: ['partnerctl hosts update 7 --email new@example.com'],
  args: {
    ...hostArgument,
    name: option('Name of the host'),
    email: option('E-mail address, unique among hosts'),
  },
  async run({ args }) {
    const values = {
      name: args.name === undefined ? undefined : readNewName(args.name),
      email: args.email === undefined ? undefined : readAddress(args.email),
    }
    if (!values.name && !values.email) throw new UsageError('Give --name or --email')
    const work = ({ db }: Act) => updateHost(db, args.host, values)
    const host = await administer('hosts update', `host ${args.host}`, work, { afterwards: announce })
    print(args, toRecord(host), record)
  },
})

const suspend = command({
  meta: {
    name: 'suspend',
    description: 'Refuse all keys of a host until `resume`, and turn its webhooks off permanently',
  },
  examples: ['partnerctl hosts suspend 7 --reason "Contract ended" --yes'],
  args: { ...hostArgument, ...reasonArgument, ...yesArgument },
  async run({ args }) {
    const reason = readReason(args.reason)
    await confirm(args, `All keys of the host ${args.host} will be refused.`)
    const work = ({ db, clock }: Act) => setHostSuspended(db, args.host, clock())
    const afterwards = async (app: Administration, suspended: Host) => {
      await announce(app, suspended)
      await turnOffWebhooks(app, await findKeysOfHost(app.db, suspended.id))
    }
    const host = await administer('hosts suspend', `host ${args.host}`, work, { reason, afterwards })
    print(args, toRecord(host), record)
  },
})

const resume = command({
  meta: { name: 'resume', description: 'Accept the keys of a suspended host again' },
  examples: ['partnerctl hosts resume 7'],
  args: hostArgument,
  async run({ args }) {
    const work = ({ db }: Act) => setHostSuspended(db, args.host, null)
    const host = await administer('hosts resume', `host ${args.host}`, work, { afterwards: announce })
    print(args, toRecord(host), record)
  },
})

/** Announces a host's change to the running processes, which cache the host with each key. */
async function announce(app: Administration, { id }: Host): Promise<void> {
  await announceKeys(app, await findKeysOfHost(app.db, id))
}

/** @throws UsageError for a malformed or too long address */
function readAddress(email: string): string {
  if (Buffer.byteLength(email) > 254) throw new UsageError('Option --email takes at most 254 bytes')
  return readEmail(email)
}

function toRecord({ id, name, email, created_at, suspended_at }: Host) {
  return {
    id,
    name,
    email,
    created_at: toTimestamp(created_at),
    suspended_at: toTimestampOrNull(suspended_at),
  }
}

export const hosts = defineCommand({
  subCommands: { create, list, update, suspend, resume },
})
