import { openLog } from '../../../src/platform/log.ts'
import { ClockWatch } from '../../../src/platform/mongo/clock-watch.ts'
import { openMongo } from '../../../src/platform/mongo/connection.ts'
import { LeasedSlots } from '../../../src/platform/mongo/turns/slots.ts'
import { fetchFile } from '../../../src/platform/outgoing/file.ts'
import { OriginTurns, type Turn } from '../../../src/platform/outgoing/turns.ts'

/** Fetches a file again and again, as fast as four at a time and in any second allow. Runs until it is killed. */
const [mongodbUrl = '', url = ''] = process.argv.slice(2)
const db = await openMongo(mongodbUrl)
const clockWatch = new ClockWatch(db, openLog('silent'))
await clockWatch.measure()
const turns = new OriginTurns(new LeasedSlots({ db, clockWatch }), {
  name: 'soak',
  limit: 4,
  requestMilliseconds: 20_000,
  answerMilliseconds: null,
})

async function takeTurn(origin: string): Promise<Turn> {
  for (;;) {
    const turn = await turns.wait(origin, 60_000).catch(() => null)
    if (turn) return turn
  }
}

async function fetchForEver(): Promise<never> {
  for (;;) {
    await fetchFile({
      url: new URL(url),
      headers: {},
      allowsPrivate: true,
      maxBytes: 1000,
      timeoutMilliseconds: 20_000,
      maxRedirects: 3,
      takeTurn,
    })
  }
}

await Promise.all(Array.from({ length: 6 }, fetchForEver))
