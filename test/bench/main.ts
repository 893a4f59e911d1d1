import { availabilityBench } from './availability.ts'
import { feedBench } from './feed.ts'
import { httpBench } from './http.ts'
import { listingsBench } from './listings.ts'
import type { Row } from './measure.ts'

const parts: Record<string, () => Promise<Row[]>> = {
  http: httpBench,
  feed: feedBench,
  listings: listingsBench,
  availability: availabilityBench,
}
const resultFile = 'bench.json'

/** Runs the parts named, or all of them; prints one table and writes it as JSON. */
const wanted = process.argv.slice(2)
const rows: Row[] = []
for (const name of wanted.length > 0 ? wanted : Object.keys(parts)) {
  const part = parts[name]
  if (!part) throw new Error(`There is no part "${name}", only ${Object.keys(parts).join(', ')}`)
  console.error(`Measuring ${name} …`)
  rows.push(...(await part()))
}
for (const { measure, ratio, aim, holds, figures } of rows) {
  const verdict = holds === undefined ? '' : holds ? `(${aim})` : `(MISSED: ${aim})`
  console.log(`${measure.padEnd(74)} ${ratio.toFixed(2).padStart(6)} ${verdict.padEnd(18)} ${figures}`)
}
await Bun.write(resultFile, `${JSON.stringify({ at: new Date(), rows }, null, 2)}\n`)
console.error(`Written to ${resultFile}`)
