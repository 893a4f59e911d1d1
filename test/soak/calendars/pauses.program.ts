import { readCalendarFile } from '../../../src/inventory/calendars/file/read.ts'
import { FileContent } from '../../../src/platform/outgoing/content.ts'
import { largestGzipFile, largestPlainFile, mostRules } from '../../support/large-calendar.ts'

/**
 * Reads four of the largest files at once, again and again. Prints how much the process computed at most between two
 * turns of its loop, in milliseconds, of all its threads: unlike the time that passed, other work on the machine does not
 * change it.
 */
const today = '2026-12-01'
const gzip = largestGzipFile(today)
const rules = mostRules()
const files = [largestPlainFile(today), gzip, rules, rules]

async function readFour(): Promise<void> {
  const outcomes = await Promise.all(
    files.map((file) => {
      const content = new FileContent(file.slice(), file === gzip ? 'gzip' : null)
      return readCalendarFile(content.pieces(), { today, country: 'DE' })
    }),
  )
  for (const { kind } of outcomes) if (kind !== 'calendar') throw new Error(`A file was read as ${kind}`)
}

await readFour()
let most = 0
let turns = 0
let before = process.cpuUsage()
const timer = setInterval(() => {
  const { user, system } = process.cpuUsage(before)
  most = Math.max(most, (user + system) / 1000)
  turns += 1
  before = process.cpuUsage()
}, 1)
for (let round = 0; round < 3; round += 1) await readFour()
clearInterval(timer)
console.log(JSON.stringify({ most, turns }))
