import { type Program, rootOf } from '../shared/program.ts'
import { partnerCommands } from './commands.ts'

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
