#!/usr/bin/env bun
import { defineCommand, renderUsage, runCommand } from 'citty'
import packageJson from '../package.json' with { type: 'json' }
import { exitCode } from './errors.ts'
import { explain } from './explain.ts'
import { note, show } from './output.ts'

/** The command line: a table of contents whose entries are loaded when they are asked for. */
const main = defineCommand({
  meta: {
    name: 'partnerctl',
    version: packageJson.version,
    description: 'The partner interface from the command line',
  },
  subCommands: {
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
    audit: () => import('./commands/audit.ts').then((file) => file.audit),
    secrets: () => import('./commands/secrets.ts').then((file) => file.secrets),
    seed: () => import('./commands/seed.ts').then((file) => file.seed),
  },
})

await run(process.argv.slice(2))

async function run(rawArgs: string[]): Promise<void> {
  if (rawArgs[0] === '--version' || rawArgs[0] === '-v')
    return void process.stdout.write(`${packageJson.version}\n`)
  const isHelp = rawArgs.length === 0 || rawArgs.includes('--help') || rawArgs.includes('-h')
  if (isHelp) return showHelp(rawArgs)
  try {
    await runCommand(main, { rawArgs })
    process.exit(exitCode.done)
  } catch (error) {
    const { text, code } = explain(error)
    note(text)
    process.exit(code)
  }
}

async function showHelp(rawArgs: string[]): Promise<void> {
  // biome-ignore lint/suspicious/noExplicitAny: citty's commands differ in their argument types
  let [command, parent]: [any, any] = [main, undefined]
  for (const word of rawArgs) {
    const next = (await command.subCommands)?.[word]
    if (!next) break
    parent = command
    command = typeof next === 'function' ? await next() : next
  }
  show(await renderUsage(command, parent))
}
