import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addDays } from '../../src/core/clock.ts'
import { readCalendarFile } from '../../src/inventory/calendars/file/read.ts'
import { mostRules } from '../support/large-calendar.ts'
import { medianMilliseconds } from './measure.ts'
import { atMost, type Row } from './table.ts'

const today = '2026-12-01'
const events = 10_000
const rounds = 15
const library = 'node-ical@0.27.1'

/** What decisions §31 and its issue allow. */
const aims = { pauseMilliseconds: 20, memoryMebibytes: 64, ratio: 0.5 }

/** Measures how calendars' files are read: beside a library, how long the loop is held, and in how much memory. */
export async function calendars(): Promise<Row[]> {
  const text = largeFile()
  const bytes = new TextEncoder().encode(text)
  const rules = mostRules()
  const read = async (file: Uint8Array) => {
    const { kind } = await readCalendarFile([file], { today, country: 'DE' })
    if (kind !== 'calendar') throw new Error(`The file was read as ${kind}`)
  }
  const memory = await memoryOfFour(bytes)
  const pause = await longestPause(() => read(bytes))
  const pauseOfFour = await longestPause(() => Promise.all([bytes, bytes, rules, rules].map(read)))
  const work = `read ${events.toLocaleString('en')} events (${(bytes.length / 1e6).toFixed(1)} MB)`
  // What the machine's other work does to the same timer.
  const control = await longestPause(() => Bun.sleep(500))
  return [
    await besideLibrary(work, text, () => read(bytes)),
    { work: 'longest pause of the loop: nothing is read', result: `${control.toFixed(1)} ms` },
    pauseRow(`longest pause of the loop: ${work}`, pause),
    pauseRow('longest pause of the loop: four at once, two of them with 10,000 daily rules', pauseOfFour),
    {
      work: 'memory above idle: four at once',
      result: `${memory.toFixed(0)} MiB`,
      aim: `≤ ${aims.memoryMebibytes} MiB`,
      holds: memory <= aims.memoryMebibytes,
    },
  ]
}

async function besideLibrary(work: string, text: string, ours: () => Promise<void>): Promise<Row> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-bench-'))
  try {
    const install = Bun.spawn(['npm', 'install', '--silent', '--no-audit', '--prefix', folder, library])
    if ((await install.exited) !== 0) throw new Error(`${library} could not be installed`)
    const { default: nodeIcal } = await import(join(folder, 'node_modules/node-ical/node-ical.js'))
    const theirs = async () => nodeIcal.sync.parseICS(text)
    const median = await medianMilliseconds({ ours, theirs }, rounds)
    const ratio = median.ours / median.theirs
    return atMost({ work, server: `this and ${library}`, ratio, limit: aims.ratio, of: library })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function pauseRow(work: string, milliseconds: number): Row {
  return {
    work,
    result: `${milliseconds.toFixed(1)} ms`,
    aim: `≤ ${aims.pauseMilliseconds} ms`,
    holds: milliseconds <= aims.pauseMilliseconds,
  }
}

/** Returns the longest time for which a timer of a millisecond had to wait, in milliseconds. */
async function longestPause(work: () => Promise<unknown>): Promise<number> {
  await work()
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last - 1)
    last = now
  }, 1)
  await Bun.sleep(5)
  longest = 0
  await work()
  await Bun.sleep(5)
  clearInterval(timer)
  return longest
}

/** Returns by how many MiB a process grows at most that reads a file four times at once. */
async function memoryOfFour(bytes: Uint8Array): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-bench-'))
  try {
    const file = join(folder, 'calendar.ics')
    await Bun.write(file, bytes)
    const script = join(import.meta.dirname, 'reference/calendar-memory.ts')
    const reader = Bun.spawn([process.execPath, script, file], { stdout: 'pipe' })
    return Number(await new Response(reader.stdout).text())
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function calendarOf(components: string[]): string {
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', ...components, 'END:VCALENDAR', ''].join('\r\n')
}

/** Returns a file in the form in which sites write them, with as many events as a file may have. */
function largeFile(): string {
  const day = (offset: number) => addDays(today, offset).replaceAll('-', '')
  const components = Array.from({ length: events }, (_, index) => {
    const start = index % 1000
    return [
      'BEGIN:VEVENT',
      `DTEND;VALUE=DATE:${day(start + 2)}`,
      `DTSTART;VALUE=DATE:${day(start)}`,
      `UID:1418fb94e984-${String(index).padStart(12, '0')}@example.com`,
      'DTSTAMP:20261130T081500Z',
      'DESCRIPTION:Reservation of an invented guest',
      'SUMMARY:Reserved',
      'END:VEVENT',
    ].join('\r\n')
  })
  return calendarOf(components)
}
