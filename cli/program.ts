import { type CommandDef, defineCommand } from 'citty'
import packageJson from '../package.json' with { type: 'json' }

// biome-ignore lint/suspicious/noExplicitAny: citty's commands differ in their argument types
type AnyCommand = CommandDef<any>

/** Commands with their descriptions, each loaded only when it is run. */
type Commands = Record<string, { description: string; load: () => Promise<AnyCommand> }>

/** Commands that call the service over HTTPS with a key. */
const partnerCommands: Commands = {
  login: {
    description:
      'Check a key and store it in a profile; the key is prompted for, or read from standard input',
    load: () => import('./commands/partner/login.ts').then((file) => file.login),
  },
  profiles: {
    description: 'Manage the profiles that login stores',
    load: () => import('./commands/partner/profiles.ts').then((file) => file.profiles),
  },
  doctor: {
    description: 'Check what a partner needs: reachability, key, permissions, clock, feed',
    load: () => import('./commands/partner/doctor.ts').then((file) => file.doctor),
  },
  completions: {
    description: 'Print a script that completes commands and options in your shell',
    load: () => import('./commands/partner/completions.ts').then((file) => file.completions(main)),
  },
  me: {
    description: 'Check the API key and show the host it belongs to',
    load: () => import('./commands/partner/me.ts').then((file) => file.me),
  },
  key: {
    description: 'Show the API key itself: permissions, expiry, limit and use',
    load: () => import('./commands/partner/key.ts').then((file) => file.key),
  },
  requests: {
    description: 'See what was done with the API key, and why it failed',
    load: () => import('./commands/partner/requests.ts').then((file) => file.requests),
  },
  api: {
    description: 'Send one request to any path below /v1 and print the response',
    load: () => import('./commands/partner/api.ts').then((file) => file.api),
  },
  feed: {
    description: 'Follow the booking feed',
    load: () => import('./commands/partner/feed.ts').then((file) => file.feed),
  },
  reconcile: {
    description: 'Compare your bookings with those of the host',
    load: () => import('./commands/partner/reconcile.ts').then((file) => file.reconcile),
  },
  messages: {
    description: 'Follow the messages of all conversations',
    load: () => import('./commands/partner/messages.ts').then((file) => file.messages),
  },
  listen: {
    description: 'Deliver signed hints of changes to a program on this machine',
    load: () => import('./commands/partner/listen.ts').then((file) => file.listen),
  },
  trigger: {
    description: 'Play a scenario in the sandbox: guests who book, write and cancel',
    load: () => import('./commands/partner/trigger.ts').then((file) => file.trigger),
  },
  faults: {
    description: 'Have the sandbox play faults: lost responses, rate limits, forged hints',
    load: () => import('./commands/partner/faults.ts').then((file) => file.faults),
  },
  clock: {
    description: 'Read the clock of the sandbox, or move it forward',
    load: () => import('./commands/partner/clock.ts').then((file) => file.clock),
  },
  certify: {
    description: 'Certify your product: follow a course in the sandbox, and get a signed report',
    load: () => import('./commands/partner/certify.ts').then((file) => file.certify),
  },
  nights: {
    description: 'Draw how many units of a listing are left on each night',
    load: () => import('./commands/partner/nights.ts').then((file) => file.nights),
  },
}

/** Commands that open the database directly. */
const adminCommands: Commands = {
  bookings: {
    description: 'Confirm and cancel bookings',
    load: () => import('./commands/admin/bookings.ts').then((file) => file.bookings),
  },
  conversations: {
    description: 'Close and reopen conversations, reply as the guest',
    load: () => import('./commands/admin/conversations.ts').then((file) => file.conversations),
  },
  consumers: {
    description: 'See how far the consumers of the feeds are behind',
    load: () => import('./commands/admin/consumers.ts').then((file) => file.consumers),
  },
  webhooks: {
    description: 'See the webhooks of all hosts, turn them off and on',
    load: () => import('./commands/admin/webhooks.ts').then((file) => file.webhooks),
  },
  guests: {
    description: 'Find, hand out and erase what is stored of a guest',
    load: () => import('./commands/admin/guests.ts').then((file) => file.guests),
  },
  hosts: {
    description: 'Manage host accounts',
    load: () => import('./commands/admin/hosts.ts').then((file) => file.hosts),
  },
  listings: {
    description: 'Move listings between statuses',
    load: () => import('./commands/admin/listings.ts').then((file) => file.listings),
  },
  keys: {
    description: 'Mint and manage API keys',
    load: () => import('./commands/admin/keys.ts').then((file) => file.keys),
  },
  jobs: {
    description: 'See, retry and drop background jobs',
    load: () => import('./commands/admin/jobs.ts').then((file) => file.jobs),
  },
  sandbox: {
    description: 'Clear all sandboxes',
    load: () => import('./commands/admin/sandbox.ts').then((file) => file.sandbox),
  },
  db: {
    description: 'Check, migrate, back up and restore the database',
    load: () => import('./commands/admin/db.ts').then((file) => file.db),
  },
  certifications: {
    description: 'See the certifications of all keys',
    load: () => import('./commands/admin/certifications.ts').then((file) => file.certifications),
  },
  audit: {
    description: 'See the audit log',
    load: () => import('./commands/admin/audit.ts').then((file) => file.audit),
  },
  secrets: {
    description: 'Rotate the secret that provider keys are encrypted under',
    load: () => import('./commands/admin/secrets.ts').then((file) => file.secrets),
  },
  seed: {
    description: 'Create a demo host with a key, a user and a listing',
    load: () => import('./commands/admin/seed.ts').then((file) => file.seed),
  },
}

const meta = {
  name: 'partnerctl',
  version: packageJson.version,
  description: 'The partner interface from the command line',
}

/** The complete command line; a command is loaded only when it is needed. */
export const main: AnyCommand = defineCommand({
  meta,
  subCommands: Object.fromEntries(
    Object.entries({ ...partnerCommands, ...adminCommands }).map(([name, { description, load }]) => [
      name,
      async () => Object.assign(await load(), { meta: { name, description } }),
    ]),
  ),
})

/** Builds a command line from names and descriptions alone, without loading any command. */
function summaryOf(commands: Commands): AnyCommand {
  return defineCommand({
    meta,
    subCommands: Object.fromEntries(
      Object.entries(commands).map(([name, { description }]) => [
        name,
        defineCommand({ meta: { name, description } }),
      ]),
    ),
  })
}

export const partnerSummary = summaryOf(partnerCommands)
export const adminSummary = summaryOf(adminCommands)
