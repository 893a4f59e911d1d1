import { alarms } from './alarms.ts'
import { calendarCrowds } from './calendar-crowds.ts'
import { calendarDay } from './calendar-day.ts'
import { calendars } from './calendars.ts'
import { capacity } from './capacity.ts'
import { costs } from './costs.ts'
import { digest } from './digest.ts'
import { floods } from './floods.ts'
import { health } from './health.ts'
import { hints } from './hints.ts'
import { idle } from './idle.ts'
import { machines } from './machines.ts'
import { reads } from './reads.ts'
import { scale } from './scale.ts'
import { withServers } from './servers.ts'
import { start } from './start.ts'
import { draw, type Row } from './table.ts'
import { countTrips } from './trips.ts'
import { waiting } from './waiting.ts'
import { help, walks } from './walks.ts'
import { writes } from './writes.ts'

/** The parts that run if no parts are named. */
const comparison = ['reads', 'writes', 'walks', 'start', 'help']
const parts: Record<string, () => Promise<Row[]>> = {
  reads: () => withServers(reads),
  writes: () => withServers(writes),
  walks: () => withServers(walks),
  help,
  alarms,
  'calendar-day': calendarDay,
  calendars,
  'calendar-crowds': calendarCrowds,
  capacity,
  digest,
  floods,
  health,
  hints,
  idle,
  costs: () => withServers(costs),
  machines,
  scale,
  start,
  trips: countTrips,
  waiting,
}
const resultFile = 'bench.json'

/** Runs the named parts, prints one table and writes it as JSON. */
const named = process.argv.slice(2)
const rows: Row[] = []
for (const name of named.length > 0 ? named : comparison) {
  const part = parts[name]
  if (!part) throw new Error(`There is no part "${name}", only ${Object.keys(parts).join(', ')}`)
  console.error(`Measuring ${name} …`)
  rows.push(...(await part()))
}
console.log(draw(rows))
await Bun.write(resultFile, `${JSON.stringify({ at: new Date(), rows }, null, 2)}\n`)
console.error(`Written to ${resultFile}`)
