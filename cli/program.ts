import { defineCommand, renderUsage } from 'citty'
import packageJson from '../package.json' with { type: 'json' }
import type { AnyCommand } from './shared/command.ts'

/** Loads a file whose exports are commands. */
type Load = () => Promise<Record<string, AnyCommand>>

/** Commands with their descriptions, each loaded only when it is run. */
type Commands = Record<string, [description: string, load: Load]>

const account: Load = () => import('./partner/commands/account.ts')
const doctor: Load = () => import('./partner/commands/doctor.ts')
const requests: Load = async () => {
  const { requestsWith } = await import('./partner/commands/requests.ts')
  const withAdminSource = async () => (await import('./admin/request-source.ts')).withAdminSource
  const top = async () => (await import('./admin/top.ts')).top
  return { requests: requestsWith({ withAdminSource, top }) }
}
const api: Load = () => import('./partner/commands/api.ts')
const poll: Load = () => import('./partner/commands/poll.ts')
const reconcile: Load = () => import('./partner/commands/reconcile.ts')
const listen: Load = () => import('./partner/commands/listen.ts')
const sandbox: Load = () => import('./partner/commands/sandbox.ts')
const certify: Load = () => import('./partner/commands/certify.ts')
const guide: Load = () => import('./partner/commands/guide.ts')
const mcp: Load = () => import('./partner/commands/mcp.ts')
const nights: Load = () => import('./partner/commands/nights.ts')
const users: Load = () => import('./partner/commands/users.ts')
const stays: Load = () => import('./admin/stays.ts')
const overviews: Load = () => import('./admin/overviews.ts')
const webhooks: Load = () => import('./admin/webhooks.ts')
const guests: Load = () => import('./admin/guests.ts')
const hosts: Load = () => import('./admin/hosts.ts')
const keys: Load = () => import('./admin/keys.ts')
const maintenance: Load = () => import('./admin/maintenance.ts')
const db: Load = () => import('./admin/db.ts')

/** Commands that call the service over HTTPS with a key. */
const partnerCommands: Commands = {
  login: [
    'Check a key and store it in a profile; the key is prompted for, or read from standard input',
    account,
  ],
  profiles: ['Manage the profiles that login stores', account],
  doctor: ['Check what a partner needs: reachability, key, permissions, clock, feed', doctor],
  completions: [
    'Print a script that completes commands and options in your shell',
    async () => ({ completions: (await import('./partner/commands/completions.ts')).completions(main) }),
  ],
  me: ['Check the API key and show the host it belongs to', account],
  key: ['Show the API key itself: permissions, expiry, limit and use', account],
  requests: ['See the requests made with the API key, and why requests failed', requests],
  api: ['Send one request to any path below /v1 and print the response', api],
  feed: ['Follow the booking feed', poll],
  reconcile: ["Compare your bookings with the host's", reconcile],
  messages: ['Follow the messages of all conversations', poll],
  listen: ['Deliver signed hints of changes to a program on this machine', listen],
  trigger: ['Play a scenario in the sandbox: guests who book, write and cancel', sandbox],
  faults: ['Inject faults into the sandbox: lost responses, rate limits, forged hints', sandbox],
  clock: ['Read the clock of the sandbox, or move it forward', sandbox],
  certify: ['Certify your product: follow a course in the sandbox, and get a signed report', certify],
  guide: ['Print a chapter of the guide, offline; without a name, the list of chapters', guide],
  mcp: ['Serve agents over MCP: the guide, the operations, the sandbox, certifications', mcp],
  users: ['List the users, find one by e-mail address, show one', users],
  nights: ['Draw how many units of a listing are left on each night', nights],
}

/** Commands that open the database directly. */
const adminCommands: Commands = {
  bookings: ['Confirm and cancel bookings', stays],
  conversations: ['Close and reopen conversations, reply as the guest', stays],
  consumers: ['See how far the consumers of the feeds are behind', overviews],
  webhooks: ['See the webhooks of all hosts, turn them off and on', webhooks],
  guests: ["Find, export and erase a guest's stored data", guests],
  hosts: ['Manage host accounts', hosts],
  listings: ['Move listings between statuses', stays],
  keys: ['Mint and manage API keys', keys],
  jobs: ['See, retry and drop background jobs', maintenance],
  sandbox: ['Clear all sandboxes', maintenance],
  db: ['Check, migrate, back up and restore the database', db],
  certifications: ['See the certifications of all keys', overviews],
  audit: ['See the audit log', overviews],
  secrets: ['Rotate the secret that provider keys are encrypted under', maintenance],
  seed: ['Create a demo host with a key, a user and a listing', maintenance],
}

/** Administrators' commands in a group of partners' commands. */
const adminSubcommands: Commands = {
  'requests top': ['Rank keys, hosts, client addresses or routes by their requests', requests],
}

const meta = {
  name: 'partnerctl',
  version: packageJson.version,
  description: 'The partner interface from the command line',
}

/** The root command; each subcommand is loaded only when it is needed. */
export const main: AnyCommand = defineCommand({
  meta,
  subCommands: Object.fromEntries(
    Object.entries({ ...partnerCommands, ...adminCommands }).map(([name, [description, load]]) => [
      name,
      async () => Object.assign((await load())[name] ?? {}, { meta: { name, description } }),
    ]),
  ),
})

/** Returns the help text, with examples, for the command that the arguments name; the text may be coloured. */
export async function helpOf(rawArgs: string[]): Promise<string> {
  let command = main
  const path: string[] = []
  for (const word of rawArgs) {
    const next = await subCommandOf(command, word)
    if (!next) break
    path.push(word)
    command = next
  }
  if (command === main) return helpOfAll()
  // The usage line begins with the name of the parent, of which citty knows only the last word.
  const parent = defineCommand({ meta: { name: ['partnerctl', ...path.slice(0, -1)].join(' ') } })
  const { examples: shown = [] } = command
  const tail = shown.length > 0 ? `\nEXAMPLES\n\n${shown.map((line) => `  ${line}`).join('\n')}\n` : ''
  return (await renderUsage(command, parent)) + tail
}

async function subCommandOf({ subCommands }: AnyCommand, name: string): Promise<AnyCommand | undefined> {
  const all = await (typeof subCommands === 'function' ? subCommands() : subCommands)
  const found = all?.[name]
  return typeof found === 'function' ? found() : found
}

/** Returns the top-level help, which lists partner and administrator commands separately. */
async function helpOfAll(): Promise<string> {
  const ofPartners = (await renderUsage(summaryOf(partnerCommands))).split('\n')
  const ofAdministrators = (await renderUsage(summaryOf({ ...adminCommands, ...adminSubcommands }))).split(
    '\n',
  )
  return [
    ofPartners[0],
    '\nUSAGE partnerctl <command>',
    '\nPARTNER COMMANDS, which call the service with a key\n',
    ...commandsIn(ofPartners),
    '\nADMINISTRATOR COMMANDS, which open the database (MONGODB_URL or DATA_DIR)\n',
    ...commandsIn(ofAdministrators),
    '\nUse partnerctl <command> --help for more information about a command.',
  ].join('\n')
}

/** Returns the lines that list commands, from the second line after the heading to the next empty line. */
function commandsIn(lines: string[]): string[] {
  const first = lines.findIndex((line) => line.includes('COMMANDS')) + 2
  return lines.slice(first, lines.indexOf('', first)).map((line) => line.trimEnd())
}

/** Builds a root command from names and descriptions alone, without loading any subcommand. */
function summaryOf(commands: Commands): AnyCommand {
  const subCommands = Object.entries(commands).map(([name, [description]]) => [
    name,
    defineCommand({ meta: { name, description } }),
  ])
  return defineCommand({ meta, subCommands: Object.fromEntries(subCommands) })
}
