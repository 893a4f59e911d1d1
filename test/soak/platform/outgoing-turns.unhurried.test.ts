import { expect, test } from 'vitest'
import { ownDatabase } from '../../support/databases.ts'
import { root } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const mongodbUrl = await ownDatabase()

/** Starts a server that notes when requests arrive, and answers after a while. Every tenth is a redirect to itself. */
function startServer() {
  const times: number[] = []
  let open = 0
  let mostOpen = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch() {
      times.push(performance.now())
      open += 1
      mostOpen = Math.max(mostOpen, open)
      await Bun.sleep(Math.random() * 500)
      open -= 1
      if (times.length % 10 === 0) return Response.redirect('/again')
      return new Response('a file')
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/`,
    times,
    mostOpen: () => mostOpen,
    stop: () => server.stop(true),
  }
}

test('over three processes without Redis, of which some are killed and some stand still, no second has more than four requests to one origin', async ({
  onTestFinished,
}) => {
  const server = startServer()
  const start = () =>
    Bun.spawn([process.execPath, 'test/soak/platform/turns-process.program.ts', mongodbUrl, server.url], {
      cwd: root,
      stdout: 'ignore',
    })
  const processes = [start(), start(), start()] as const
  onTestFinished(async () => {
    for (const one of processes) one.kill('SIGKILL')
    await Promise.all(processes.map(({ exited }) => exited))
    await server.stop()
  })
  const [killed, standing] = processes
  await expect.poll(() => server.times.length, { timeout: 60_000 }).toBeGreaterThan(40)
  for (let count = 0; count < 3 * soakFactor; count += 1) {
    standing.kill('SIGSTOP')
    await Bun.sleep(2500)
    standing.kill('SIGCONT')
    await Bun.sleep(2500)
  }
  killed.kill('SIGKILL')
  const atKill = server.times.length
  // Within 26 s the turns of the killed process are free, and the others go on at the full pace.
  await Bun.sleep(27_000)
  const later = server.times.length
  await Bun.sleep(20_000)
  const perSecond = (server.times.length - later) / 20
  const inSecondFrom = server.times.map(
    (from) => server.times.filter((at) => at >= from && at < from + 1000).length,
  )
  const busiest = Math.max(...inSecondFrom)
  console.log(
    `${server.times.length} requests, ${busiest} in the busiest second, ${server.mostOpen()} at a time at most; ` +
      `${later - atKill} in the 27 s after a kill, then ${perSecond.toFixed(1)} a second`,
  )
  expect(busiest).toBeLessThanOrEqual(4)
  expect(server.mostOpen()).toBeLessThanOrEqual(4)
  expect(perSecond).toBeGreaterThan(2)
})
