import { calendarModel } from '../../src/inventory/calendars/model.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { type Actor, sender } from '../support/app.ts'
import {
  type CalendarServer,
  calendarOf,
  dayFromNow,
  type ListingWithCalendars,
  listingWithCalendars,
  startCalendarServer,
} from '../support/calendars.ts'
import { installation, partnerctl } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import { type BenchService, withService } from './service.ts'
import type { Row } from './table.ts'

/*
 * A day in the life of a host's calendars, in real time: what `GET …/calendars`, `GET /v1/health` and an alarms' webhook
 * show and when, while the files behind the calendars change, empty, break and die (decisions §29, §31).
 *
 * An hour is a whole day here: the service reads each calendar about every 15 minutes, and the script changes the files
 * in minutes that lie between two readings.
 *
 *   minute   0        5       15       20       30       35       45       60
 *   script   set   change               change            change            checks
 *   service  read            read              read             read
 *
 * A shorter day is for trying the script: everything comes earlier in proportion, and the script itself asks for the
 * readings. A night that is gone is only freed after ten minutes, so the checks of a shorter day expect it to stay.
 */

/** Length of the day. */
const minutes = Number(process.env.MINUTES ?? 60)
const isWhole = minutes >= 60
/** One of the 60 parts of the day, which are minutes of a whole one. */
const minuteMilliseconds = (minutes / 60) * 60_000
const parts = 60

const provider = '/v1/integrations/provider_one'
/** A calendar that was last read well this long ago, and whose last attempt failed, is reported. */
const reportedMilliseconds = 6 * 3_600_000 + 15 * 60_000
/** Minutes at which a shorter day asks for the readings that the service makes in a whole one. */
const askedReadings = [15, 30, 45]

type Range = [start: string, end: string]
const stay = (start: number, nights: number): Range => [dayFromNow(start), dayFromNow(start + nights)]

/** The files that change: what each has from a minute on. */
const changing: Record<string, Record<number, Range[]>> = {
  'new stays': {
    0: [stay(40, 3)],
    5: [stay(40, 3), stay(50, 2)],
    20: [stay(40, 3), stay(50, 2), stay(60, 1)],
    35: [stay(40, 3), stay(50, 2), stay(60, 1), stay(70, 5)],
  },
  'grown block': { 0: [stay(40, 2)], 5: [stay(40, 3)], 20: [stay(40, 4)], 35: [stay(40, 5)] },
  'removed stays': {
    0: [stay(40, 2), stay(50, 2), stay(60, 2), stay(70, 2)],
    5: [stay(40, 2), stay(60, 2), stay(70, 2)],
    20: [stay(40, 2), stay(60, 2)],
  },
  'moved stay': { 0: [stay(40, 5), stay(60, 2)], 5: [stay(47, 5), stay(60, 2)] },
  'booking that comes back': { 0: [stay(40, 1)], 5: [stay(20, 5), stay(40, 1)] },
  'empty file': { 0: [stay(40, 5)], 5: [] },
  'double booking': { 0: [], 5: [stay(21, 5)] },
}
const restless = 'new UIDs each time'
const dying = 'server dies'
const broken = 'event without dates'
/** Made once, because the day may pass midnight. */
const restlessStays = [stay(40, 3), stay(300, 65)]
const conflictNights = [dayFromNow(21), dayFromNow(22)]
const names = [...Object.keys(changing), restless, dying, broken]

interface Entry {
  room_id: number
  url: string
  status: string
  error: string | null
  read_at: string | null
  changed_at: string | null
  held_until: string | null
  nights: number
  conflicts: string[]
  events: { skipped: number } | null
}

interface Finding {
  code: string
  severity: string
}

interface Calendar extends ListingWithCalendars {
  name: string
  roomId: number
}

/** Runs the day. The table has the checks at its end; the timeline goes to standard output as it happens. */
export function calendarDay(): Promise<Row[]> {
  return withService(async (started) => {
    const stops: (() => Promise<unknown>)[] = []
    const onEnd = (stop: () => Promise<unknown>) => {
      stops.push(stop)
    }
    try {
      return await new Day(started, onEnd).run()
    } finally {
      await Promise.all(stops.map((stop) => stop()))
    }
  })
}

class Day {
  private readonly db: Db
  private readonly settings: Record<string, string>
  private readonly service: BenchService['service']
  private readonly files: CalendarServer
  private readonly alarms: ReturnType<typeof startReceiver>
  private readonly dyingFiles: CalendarServer
  private killDyingFiles: () => Promise<unknown> = async () => {}
  private readonly lastLines = new Map<string, string>()
  private printedAlarms = 0
  private begunAt = 0
  private actor: Pick<Actor, 'send'> = { send: () => Promise.reject(new Error('The day has not begun')) }
  private calendars: Calendar[] = []
  private demoListing = 0
  private readonly bookings = new Map<string, number>()
  /** What each calendar has shown since it was first read, without repetitions. */
  private readonly shown = new Map<string, string[]>()

  constructor({ db, settings, service }: BenchService, onEnd: (stop: () => Promise<unknown>) => void) {
    this.db = db
    this.settings = settings
    this.service = service
    this.files = startCalendarServer(onEnd)
    this.dyingFiles = startCalendarServer((stop) => {
      this.killDyingFiles = stop
      onEnd(stop)
    })
    this.alarms = startReceiver({ onTestFinished: onEnd })
  }

  async run(): Promise<Row[]> {
    await this.begin()
    for (let minute = 0; minute <= parts; minute += 1) {
      await this.waitFor(minute)
      await this.play(minute)
      if (!isWhole && askedReadings.includes(minute)) await this.readAll()
      await this.look(minute)
    }
    return this.check()
  }

  private async begin(): Promise<void> {
    const demo = JSON.parse(await this.administer('seed', '--json'))
    this.demoListing = demo.listing_id
    await this.administer('listings', 'status', String(this.demoListing), 'published')
    const send = sender(fetch, this.service.url)
    this.actor = { send: (method, path, sending) => send(method, path, { key: demo.key, ...sending }) }
    this.say(0, `host ${demo.host_id} on ${this.service.url}; the day takes ${minutes} minutes`)
    await this.succeed('POST', '/v1/webhooks', {
      url: this.alarms.url,
      events: ['alarm.opened', 'alarm.resolved'],
    })
    for (const [name, versions] of Object.entries(changing)) this.serve(name, calendarOf(versions[0] ?? []))
    this.files.serve(pathOf(restless), () => new Response(restlessFile()))
    this.dyingFiles.serve(pathOf(dying), calendarOf([stay(40, 4)]))
    this.serve(broken, calendarOf([stay(40, 2)]))
    for (const name of names) {
      const server = name === dying ? this.dyingFiles : this.files
      const made = await listingWithCalendars(this.actor, [server.url + pathOf(name)])
      this.calendars.push({ ...made, name, roomId: made.roomIds[0] as number })
    }
    this.begunAt = Date.now()
    this.say(0, `${names.length} addresses are set`)
  }

  /** Runs an administrator's command. Returns what it prints. */
  private async administer(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await partnerctl(args, this.settings, undefined, installation)
    if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}: ${stderr}`)
    return stdout
  }

  private serve(name: string, file: string): void {
    this.files.serve(pathOf(name), file)
  }

  /** Does what happens in a minute of the day. */
  private async play(minute: number): Promise<void> {
    for (const [name, versions] of Object.entries(changing)) {
      const version = versions[minute]
      if (!version || minute === 0) continue
      this.serve(name, calendarOf(version))
      this.say(minute, `file of "${name}": ${version.length} events`)
    }
    if (minute === 2) await this.book('booking that comes back', stay(20, 5), minute)
    if (minute === 2) await this.book('double booking', stay(20, 3), minute)
    if (minute === 5) await this.kill(minute)
    if (minute === 5) this.breakEvent(minute)
    if (minute === 20) await this.repair(minute)
  }

  private async book(name: string, [checkin_at, checkout_at]: Range, minute: number): Promise<void> {
    const { user_id, listing_id, room_type_id } = this.calendarOf(name)
    const body = { user_id, listing_id, room_type_id, checkin_at, checkout_at }
    const { data } = await this.succeed('POST', '/v1/bookings', body)
    this.bookings.set(name, data.booking_id)
    this.say(minute, `booking ${data.booking_id} in "${name}": ${checkin_at} to ${checkout_at}`)
  }

  /**
   * Ends the server of one calendar. Six hours do not fit into an hour, so the last good reading is dated back until its
   * failure is to be reported in minute 30.
   */
  private async kill(minute: number): Promise<void> {
    await this.killDyingFiles()
    const reportedAt = this.begunAt + 30 * minuteMilliseconds
    const read_at = new Date(reportedAt - reportedMilliseconds)
    const { roomId } = this.calendarOf(dying)
    await calendarModel(this.db).collection.updateOne(
      { room_id: roomId },
      { $set: { read_at, set_at: read_at } },
    )
    this.say(
      minute,
      `the server of "${dying}" is gone; its last good reading is dated back to ${timeOf(read_at)}`,
    )
  }

  private breakEvent(minute: number): void {
    const withoutDates = ['BEGIN:VEVENT', 'UID:lost@example.com', 'SUMMARY:Reserved', 'END:VEVENT', ''].join(
      '\r\n',
    )
    const file = calendarOf([stay(40, 2)])
    this.serve(broken, file.replace('END:VCALENDAR', `${withoutDates}END:VCALENDAR`))
    this.say(minute, `file of "${broken}": an event has no dates`)
  }

  private async repair(minute: number): Promise<void> {
    this.serve(broken, calendarOf([stay(40, 2)]))
    this.say(minute, `file of "${broken}": is whole again`)
    const booking = this.bookings.get('double booking')
    await this.succeed('POST', `/v1/bookings/${booking}/cancel`, { reason: 'Sold twice' })
    this.say(minute, `booking ${booking} in "double booking" is cancelled`)
    const listing = await this.succeed('GET', `/v1/listings/${this.demoListing}`)
    const row = {
      listing_id: this.demoListing,
      room_type_id: listing.data.room_types[0].id,
      available: 2,
      start_date: dayFromNow(0),
      end_date: dayFromNow(365),
    }
    await this.succeed('POST', `${provider}/availability`, { data: [row] })
    this.say(minute, "the demo listing's availability is pushed for the first time")
  }

  private async readAll(): Promise<void> {
    for (const { roomId } of this.calendars)
      await this.succeed('POST', `${provider}/calendars/${roomId}/read`)
  }

  /** Prints what has changed in what a host sees. */
  private async look(minute: number): Promise<void> {
    for (const entry of await this.entries()) {
      const { name } = this.calendars.find(({ roomId }) => roomId === entry.room_id) as Calendar
      const state = describe(entry)
      const shown = this.shown.get(name) ?? []
      if (entry.status !== 'waiting' && shown.at(-1) !== state) this.shown.set(name, [...shown, state])
      this.sayIfNew(minute, `calendar "${name}"`, `${state}; read ${timeOf(entry.read_at)}`)
    }
    const { data: health } = await this.succeed('GET', '/v1/health')
    const findings = health.findings.map(({ code, severity }: Finding) => `${code} (${severity})`)
    this.sayIfNew(minute, 'health', `${health.status}: ${findings.join(', ') || 'no findings'}`)
    for (const { hint, headers } of this.alarms.received.slice(this.printedAlarms)) {
      const { alarm_id, code } = hint.data
      const which = `${hint.type} ${code} (alarm ${alarm_id}, ${headers['webhook-id']})`
      this.say(minute, `webhook: ${which}, made ${timeOf(hint.timestamp)}`)
      this.printedAlarms += 1
    }
  }

  private async entries(): Promise<Entry[]> {
    return (await this.succeed('GET', `${provider}/calendars?per_page=500`)).data.calendars
  }

  private async check(): Promise<Row[]> {
    const entries = await this.entries()
    const of = (name: string) => {
      const { roomId } = this.calendarOf(name)
      return entries.find(({ room_id }) => room_id === roomId) as Entry
    }
    const nights = (name: string, whole: number, short = whole) =>
      equal(`"${name}": blocked nights`, of(name).nights, isWhole ? whole : short)
    const back = this.calendarOf('booking that comes back')
    const { data: shownBack } = await this.succeed('GET', `${provider}/calendars/${back.roomId}`)
    const [firstBlock] = shownBack.calendar.blocks
    const types = (wanted: string) =>
      this.alarms.received
        .filter(({ hint }) => hint.type === wanted)
        .map(({ hint }) => hint.data.code)
        .sort()
    const emptied = of('empty file')
    return [
      nights('new stays', 11),
      nights('grown block', 5),
      nights('removed stays', 4, 8),
      nights('moved stay', 7, 12),
      nights('booking that comes back', 6),
      equal(
        '"booking that comes back": its block is the booking',
        firstBlock.booking_id,
        this.bookings.get(back.name),
      ),
      nights(restless, 68),
      equal(`"${restless}": states shown`, this.shown.get(restless)?.join(' → '), 'ok, 68 nights'),
      nights('empty file', 5),
      equal('"empty file": status', emptied.status, 'holding'),
      nights(dying, 4),
      equal(`"${dying}": status and error`, `${of(dying).status} ${of(dying).error}`, 'failing refused'),
      nights('double booking', 5),
      equal(
        '"double booking": states shown',
        this.shown.get('double booking')?.join(' → '),
        `ok, 0 nights → ok, 5 nights, conflicts on ${conflictNights.join(' ')} → ok, 5 nights`,
      ),
      equal('alarms opened', unique(types('alarm.opened')).join(' '), openedAlarms.join(' ')),
      equal('alarms resolved', unique(types('alarm.resolved')).join(' '), resolvedAlarms.join(' ')),
    ]
  }

  private calendarOf(name: string): Calendar {
    const found = this.calendars.find((calendar) => calendar.name === name)
    if (!found) throw new Error(`There is no calendar "${name}"`)
    return found
  }

  private async succeed(method: string, path: string, body?: object) {
    const { status, text, body: answer } = await this.actor.send(method, path, body ? { body } : {})
    if (status >= 300) throw new Error(`${method} ${path} responded ${status}: ${text}`)
    return answer
  }

  private async waitFor(minute: number): Promise<void> {
    await Bun.sleep(Math.max(0, this.begunAt + minute * minuteMilliseconds - Date.now()))
  }

  private sayIfNew(minute: number, subject: string, text: string): void {
    if (this.lastLines.get(subject) === text) return
    this.lastLines.set(subject, text)
    this.say(minute, `${subject}: ${text}`)
  }

  private say(minute: number, text: string): void {
    console.log(`${timeOf(new Date())}  ${String(minute).padStart(2)}  ${text}`)
  }
}

const openedAlarms = ['calendar_conflict', 'calendar_failing', 'calendar_incomplete', 'nights_open']
const resolvedAlarms = openedAlarms.filter((code) => code !== 'calendar_failing')

function pathOf(name: string): string {
  return `/${name.toLowerCase().replaceAll(' ', '-')}.ics`
}

/** A file that says the same each time, in another order and with other UIDs, as some senders write it. */
function restlessFile(): string {
  const ranges = Math.random() < 0.5 ? restlessStays : restlessStays.toReversed()
  return calendarOf(ranges).replace(/UID:.*/g, () => `UID:${crypto.randomUUID()}@example.com`)
}

function describe({ status, error, nights, conflicts, held_until, events }: Entry): string {
  return [
    error === null ? status : `${status} (${error})`,
    `${nights} nights`,
    ...(held_until === null ? [] : [`held until ${held_until}`]),
    ...(events?.skipped ? [`${events.skipped} skipped`] : []),
    ...(conflicts.length === 0 ? [] : [`conflicts on ${conflicts.join(' ')}`]),
  ].join(', ')
}

function equal(work: string, result: unknown, aim: unknown): Row {
  return { work, result: String(result), aim: String(aim), holds: result === aim }
}

function unique<T>(values: T[]): T[] {
  return [...new Set(values)]
}

function timeOf(moment: Date | string | null): string {
  if (moment === null) return 'never'
  return new Date(moment).toISOString().slice(0, 19).replace('T', ' ')
}
