import { burst, residentMebibytes } from './load.ts'
import { atMost, type Row } from './measure.ts'
import type { BenchServers } from './servers.ts'

const mebibytes = (value: number) => `${value.toFixed(1)} MiB`

/** The memory of a freshly started service that has served a few requests. */
export async function idleMemory({ service, bare }: BenchServers): Promise<Row> {
  const [me, bareMe] = [service('/v1/me'), bare('/me')]
  for (const target of [me, bareMe]) await burst(target, (sent) => sent < 100)
  await Bun.sleep(3000)
  const [idle, bareIdle] = [await residentMebibytes(me.pids), await residentMebibytes(bareMe.pids)]
  return atMost(
    'MiB of memory above bare, idle after the start',
    idle - bareIdle,
    40,
    `${mebibytes(idle)} against ${mebibytes(bareIdle)}`,
  )
}

const slopeRounds = 5
const slopeRequests = 100_000

/** The growth of the memory once all caches are full. */
export async function memorySlope({ service }: BenchServers): Promise<Row> {
  const me = service('/v1/me')
  const after: number[] = []
  for (let round = 0; round < slopeRounds; round += 1) {
    await burst(me, (sent) => sent < slopeRequests)
    await Bun.sleep(1000)
    after.push(await residentMebibytes(me.pids))
  }
  const slope = ((after.at(-1) as number) - (after[0] as number)) / (slopeRounds - 1)
  return atMost(
    'MiB of memory for each 100,000 requests',
    slope,
    1,
    `after each: ${after.map(mebibytes).join(', ')}`,
  )
}
