import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { program } from '../../cli/program.ts'
import type { AnyCommand } from '../../cli/shared/command.ts'
import { type Actor, seedBooking } from './app.ts'

/** How a test runs a command. */
export interface Invocation {
  /** The arguments after the command's name. */
  args?: string[]
  /** Text for standard input. */
  stdin?: string
  /** True for a command that ends with its standard input. */
  keepsInput?: boolean
  /** True for a command that reads standard input or reacts to signals, so that it needs a process of its own. */
  isAlone?: boolean
}

/** Why a command cannot print its result on the servers that all tests share. Tests then ask for its help. */
export type Unprintable =
  | 'changes every sandbox'
  | 'needs the embedded database'
  | 'needs a certification'
  | 'needs a job'

/** Returns the names of all commands that can be run, from the command line's own table. */
export async function everyCommand(
  command: AnyCommand = program.main,
  path: string[] = [],
): Promise<string[]> {
  const subCommands = (await resolve(command.subCommands)) as Record<string, AnyCommand> | undefined
  if (!subCommands) return [path.join(' ')]
  const names: string[] = []
  for (const [name, next] of Object.entries(subCommands))
    names.push(...(await everyCommand(await resolve(next), [...path, name])))
  return names
}

async function resolve<T>(value: T | (() => T | Promise<T>)): Promise<T> {
  return typeof value === 'function' ? (value as () => T | Promise<T>)() : value
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

/**
 * Returns an invocation of each command that prints something, in an order in which all of them can be run.
 *
 * @param receiver an address that accepts hints
 */
export async function invocations(
  actor: Actor,
  other: Actor,
  receiver: string,
): Promise<{ environment: Record<string, string>; of: Record<string, Invocation | Unprintable> }> {
  const { booking_id, listing_id, user_id } = await seedBooking(actor)
  const guest = await seedBooking(other)
  const path = `/v1/bookings/${booking_id}/messages`
  const message = await actor.send('POST', path, { body: { message: { text: 'Welcome' } } })
  const hook = await actor.send('POST', '/v1/webhooks', {
    body: { url: 'https://hooks.example.com/in', events: ['booking.changed'], enabled: false },
  })
  const availability = { ical: 'https://calendars.example.com/4001.ics' }
  const room = await actor.send('PATCH', '/sandbox/listings/2001', {
    body: { room_types: [{ id: 3001, rooms: [{ id: 4001, availability }] }] },
  })
  for (const { status, text } of [message, hook, room]) if (status >= 300) throw new Error(text)
  const home = await mkdtemp(join(tmpdir(), 'partner-every-'))
  const held = join(home, 'held.csv')
  const calendar = join(home, 'calendar.ics')
  await writeFile(calendar, 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n')
  await writeFile(held, 'booking_id,status,checkin_at,checkout_at\n')
  const profiles = {
    current: 'one',
    profiles: { one: { base_url: receiver, key: actor.key, sandbox: false } },
  }
  const config = join(home, 'partnerctl')
  await Bun.write(join(config, 'profiles.json'), JSON.stringify(profiles))
  const environment = { PARTNER_API_KEY: actor.key, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, HOME: home }
  const [booking, listing, webhook] = [booking_id, listing_id, hook.body.data.id].map(String) as [
    string,
    string,
    string,
  ]
  const ownKey = String(other.keyId)
  const ownHost = String(other.hostId)
  const followed = { isAlone: true }
  return {
    environment,
    of: {
      login: { stdin: actor.key, isAlone: true },
      'profiles list': {},
      'profiles use': { args: ['one'] },
      'profiles remove': { args: ['one'] },
      doctor: {},
      health: {},
      completions: { args: ['bash'] },
      me: {},
      key: {},
      'requests list': {},
      'requests tail': followed,
      'requests top': {},
      api: { args: ['GET', '/me'] },
      'feed poll': { args: ['--once'], ...followed },
      'feed show': { args: [booking] },
      reconcile: { args: ['--against', held], ...followed },
      'calendars list': {},
      'calendars show': { args: ['4001', '--sandbox'] },
      'calendars read': { args: ['4001', '--sandbox'] },
      'calendars check': { args: [calendar] },
      'messages poll': { args: ['--once'], ...followed },
      listen: { args: ['--forward-to', receiver, '--since', '2020-01-01 00:00:00'], ...followed },
      trigger: {},
      'faults list': {},
      'faults set': { args: ['-'], stdin: '{"rules": []}', isAlone: true },
      'faults clear': {},
      clock: {},
      'certify start': { args: ['--profile', 'feed'] },
      'certify status': followed,
      'certify state': 'needs a certification',
      'certify report': 'needs a certification',
      'certify verify': 'needs a certification',
      guide: { args: ['safe-retries'] },
      mcp: { stdin: `${JSON.stringify(initialize)}\n`, isAlone: true, keepsInput: true },
      'users list': {},
      'users get': { args: [String(user_id)] },
      nights: { args: [listing, '--from', '2030-01-01', '--to', '2030-01-31'] },
      'bookings confirm': { args: [booking] },
      'bookings cancel': { args: [booking, '--yes'] },
      'conversations reply': { args: [booking, '--text', 'We arrive at six'] },
      'conversations close': { args: [booking] },
      'conversations reopen': { args: [booking] },
      'consumers list': {},
      'webhooks list': {},
      'webhooks deliveries': { args: [webhook] },
      'webhooks disable': { args: [webhook] },
      'webhooks enable': { args: [webhook] },
      'guests find': { args: ['--email', 'nobody@example.com'] },
      'guests export': { args: ['--user', String(guest.user_id)] },
      'guests erase': { args: ['--user', String(guest.user_id), '--with-open-stays', '--yes'] },
      'hosts create': { args: ['--name', 'New', '--email', `${crypto.randomUUID()}@example.com`] },
      'hosts list': {},
      'hosts update': { args: [ownHost, '--name', 'Renamed'] },
      'hosts suspend': { args: [ownHost, '--yes'] },
      'hosts resume': { args: [ownHost] },
      'listings status': { args: [listing, 'inactive'] },
      'keys mint': { args: ['--host', ownHost, '--name', 'New', '--permission', 'bookings.read'] },
      'keys list': {},
      'keys show': { args: [ownKey] },
      'keys update': { args: [ownKey, '--name', 'Renamed'] },
      'keys rotate': { args: [ownKey] },
      'keys deactivate': { args: [ownKey] },
      'keys activate': { args: [ownKey] },
      'keys revoke': { args: [ownKey, '--yes'] },
      'jobs list': {},
      'jobs retry': { args: ['--all'] },
      'jobs drop': 'needs a job',
      'sandbox clear': 'changes every sandbox',
      'db check': {},
      'db migrate': { args: ['--dry-run'] },
      'db backup': 'needs the embedded database',
      'db restore': 'needs the embedded database',
      'db after-restore': 'needs the embedded database',
      'alarms list': {},
      'certifications list': {},
      'audit list': {},
      'secrets rotate': 'changes every sandbox',
      seed: {},
    },
  }
}
