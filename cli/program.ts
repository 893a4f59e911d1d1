import { defineCommand } from 'citty'
import packageJson from '../package.json' with { type: 'json' }

/** The command line: a table of contents whose entries are loaded when they are asked for. */
export const main = defineCommand({
  meta: {
    name: 'partnerctl',
    version: packageJson.version,
    description: 'The partner interface from the command line',
  },
  subCommands: {
    login: () => import('./commands/login.ts').then((file) => file.login),
    profiles: () => import('./commands/profiles.ts').then((file) => file.profiles),
    doctor: () => import('./commands/doctor.ts').then((file) => file.doctor),
    completions: () => import('./commands/completions.ts').then((file) => file.completions),
    me: () => import('./commands/me.ts').then((file) => file.me),
    api: () => import('./commands/api.ts').then((file) => file.api),
    feed: () => import('./commands/feed.ts').then((file) => file.feed),
    bookings: () => import('./commands/bookings.ts').then((file) => file.bookings),
    conversations: () => import('./commands/conversations.ts').then((file) => file.conversations),
    hosts: () => import('./commands/hosts.ts').then((file) => file.hosts),
    listings: () => import('./commands/listings.ts').then((file) => file.listings),
    keys: () => import('./commands/keys.ts').then((file) => file.keys),
    jobs: () => import('./commands/jobs.ts').then((file) => file.jobs),
    sandbox: () => import('./commands/sandbox.ts').then((file) => file.sandbox),
    db: () => import('./commands/db.ts').then((file) => file.db),
    audit: () => import('./commands/audit.ts').then((file) => file.audit),
    secrets: () => import('./commands/secrets.ts').then((file) => file.secrets),
    seed: () => import('./commands/seed.ts').then((file) => file.seed),
  },
})
