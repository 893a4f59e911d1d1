import type { CalendarAdministration } from '../shared/calendars.ts'
import type { AnyCommand } from '../shared/command.ts'
import { type CommandGroup, type Load, type Program, rootOf } from '../shared/program.ts'
import type { RequestAdministration } from '../shared/requests.ts'

const account: Load = () => import('./commands/account.ts')
const health: Load = () => import('./commands/health.ts')
const doctor: Load = () => import('./commands/doctor.ts')
const api: Load = () => import('./commands/api.ts')
const poll: Load = () => import('./commands/poll.ts')
const reconcile: Load = () => import('./commands/reconcile.ts')
const listen: Load = () => import('./commands/listen.ts')
const sandbox: Load = () => import('./commands/sandbox.ts')
const certify: Load = () => import('./commands/certify.ts')
const guide: Load = () => import('./commands/guide.ts')
const mcp: Load = () => import('./commands/mcp.ts')
const nights: Load = () => import('./commands/nights.ts')
const users: Load = () => import('./commands/users.ts')

/** What some partners' commands can also do in the service's installation, for administrators. */
export interface PartnerAdministration {
  requests: RequestAdministration
  calendars: CalendarAdministration
}

/**
 * Commands that call the service over HTTPS with a key.
 *
 * @param root returns the root command, whose words `completions` prints
 * @param administration what administrators can do with these commands, in the service's installation
 */
export function partnerCommands(
  root: () => AnyCommand,
  administration?: PartnerAdministration,
): CommandGroup {
  const completions: Load = async () => ({
    completions: (await import('./commands/completions.ts')).completions(root()),
  })
  const requests: Load = async () => ({
    requests: (await import('./commands/requests.ts')).requestsWith(administration?.requests),
  })
  const calendars: Load = async () => ({
    calendars: (await import('./commands/calendars.ts')).calendarsWith(administration?.calendars),
  })
  return {
    heading: 'PARTNER COMMANDS, which call the service with a key',
    commands: {
      login: [
        'Check a key and store it in a profile; the key is prompted for, or read from standard input',
        account,
      ],
      profiles: ['Manage the profiles that login stores', account],
      doctor: ['Check what a partner needs: reachability, key, permissions, clock, feed', doctor],
      health: ['Learn whether the integration is quiet or broken; made for cron and for a monitor', health],
      completions: ['Print a script that completes commands and options in your shell', completions],
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
      calendars: ['See what the calendars of rooms block, read one now, or check a file', calendars],
      nights: ['Draw how many units of a listing are left on each night', nights],
    },
  }
}

const groups = [partnerCommands(() => main)]
const main = rootOf(groups)

/** The command line that the service distributes, which has the partners' commands alone. */
export const program: Program = {
  main,
  groups,
  // Loaded only after an error.
  explain: async (error) => (await import('./format-error.ts')).formatError(error),
}

/**
 * Names of administrators' commands, which need the service's installation. A name of two words belongs to a group of
 * partners' commands.
 */
export const administratorsCommands: readonly string[] = [
  'alarms',
  'audit',
  'bookings',
  'certifications',
  'consumers',
  'conversations',
  'db',
  'guests',
  'hosts',
  'jobs',
  'keys',
  'listings',
  'requests top',
  'sandbox',
  'secrets',
  'seed',
  'webhooks',
]

/** Returns the administrators' command that the arguments name; undefined if they name none. */
export function findAdministratorsCommand([first, second]: string[]): string | undefined {
  return administratorsCommands.find((name) => name === first || name === `${first} ${second}`)
}
