import type { CalendarAdministration } from '../shared/calendars.ts'
import type { CommandGroup, Load } from '../shared/program.ts'
import type { RequestAdministration } from '../shared/requests.ts'

const stays: Load = () => import('./stays.ts')
const overviews: Load = () => import('./overviews.ts')
const webhooks: Load = () => import('./webhooks.ts')
const guests: Load = () => import('./guests.ts')
const hosts: Load = () => import('./hosts.ts')
const keys: Load = () => import('./keys.ts')
const maintenance: Load = () => import('./maintenance.ts')
const db: Load = () => import('./db.ts')
const top: Load = () => import('./top.ts')

/** Commands that open the database directly. */
export const adminCommands: CommandGroup = {
  heading: 'ADMINISTRATOR COMMANDS, which open the database (MONGODB_URL or DATA_DIR)',
  commands: {
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
    alarms: ['See the open alarms of all hosts', overviews],
    certifications: ['See the certifications of all keys', overviews],
    audit: ['See the audit log', overviews],
    secrets: ['Rotate the secret that provider keys are encrypted under', maintenance],
    seed: ['Create a demo host with a key, a user and a listing', maintenance],
  },
  subcommands: {
    'requests top': ['Rank keys, hosts, client addresses or routes by their requests', top],
  },
}

/** Adds to the partners' command `requests` what only administrators can do. */
export const requestAdministration: RequestAdministration = {
  withAdminSource: async () => (await import('./request-source.ts')).withAdminSource,
  top: async () => (await import('./top.ts')).top,
}

/** Adds to the partners' command `calendars` what only administrators can do. */
export const calendarAdministration: CalendarAdministration = {
  listOfHost: async () => (await import('./calendars.ts')).listOfHost,
}
