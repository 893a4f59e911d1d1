import { type CommandDef, defineCommand } from 'citty'
import packageJson from '../package.json' with { type: 'json' }

/** The command line: a table of contents whose commands are loaded when they are needed. */
export const main: CommandDef = defineCommand({
  meta: {
    name: 'partnerctl',
    version: packageJson.version,
    description: 'The partner interface from the command line',
  },
  subCommands: {
    login: () => import('./commands/partner/login.ts').then((file) => file.login),
    profiles: () => import('./commands/partner/profiles.ts').then((file) => file.profiles),
    doctor: () => import('./commands/partner/doctor.ts').then((file) => file.doctor),
    completions: () => import('./commands/partner/completions.ts').then((file) => file.completions(main)),
    me: () => import('./commands/partner/me.ts').then((file) => file.me),
    api: () => import('./commands/partner/api.ts').then((file) => file.api),
    feed: () => import('./commands/partner/feed.ts').then((file) => file.feed),
    bookings: () => import('./commands/admin/bookings.ts').then((file) => file.bookings),
    conversations: () => import('./commands/admin/conversations.ts').then((file) => file.conversations),
    hosts: () => import('./commands/admin/hosts.ts').then((file) => file.hosts),
    listings: () => import('./commands/admin/listings.ts').then((file) => file.listings),
    keys: () => import('./commands/admin/keys.ts').then((file) => file.keys),
    jobs: () => import('./commands/admin/jobs.ts').then((file) => file.jobs),
    sandbox: () => import('./commands/admin/sandbox.ts').then((file) => file.sandbox),
    db: () => import('./commands/admin/db.ts').then((file) => file.db),
    audit: () => import('./commands/admin/audit.ts').then((file) => file.audit),
    secrets: () => import('./commands/admin/secrets.ts').then((file) => file.secrets),
    seed: () => import('./commands/admin/seed.ts').then((file) => file.seed),
  },
})
