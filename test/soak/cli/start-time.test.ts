import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sharedServices, testApp } from '../../support/app.ts'
import { node, servedFile } from '../../support/command-line.ts'
import { millisecondsOf } from '../../support/soak.ts'

const service = await testApp()
const [server] = sharedServices()
const pairs = 21

/** Returns the middle one of the ratios of two programs' durations, run in turns, and the medians. */
async function compare(one: () => Promise<void>, other: () => Promise<void>) {
  const taken: { one: number; other: number }[] = []
  for (let pair = 0; pair < pairs; pair += 1)
    taken.push({ one: await millisecondsOf(one), other: await millisecondsOf(other) })
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(pairs / 2)] as number
  return {
    ratio: median(taken.map((pair) => pair.one / pair.other)),
    milliseconds: [median(taken.map((pair) => pair.one)), median(taken.map((pair) => pair.other))].map(
      Math.round,
    ),
  }
}

test('partnerctl me and feed poll from the served file take at most twice as long as node -e with one fetch', async () => {
  const { key } = await service.actor()
  const home = await mkdtemp(join(tmpdir(), 'partner-start-'))
  const env = { PATH: process.env.PATH ?? '', HOME: home, PARTNER_BASE_URL: server.url, PARTNER_API_KEY: key }
  const file = await servedFile()
  const run =
    (...args: string[]) =>
    async () => {
      const child = Bun.spawn([node, ...args], { env, stdout: 'pipe', stderr: 'inherit' })
      expect(await child.exited).toBe(0)
    }
  const path = '/v1/me'
  const fetchOnce = run(
    '-e',
    `fetch('${server.url}${path}', { headers: { 'x-api-key': '${key}' } }).then((response) => response.text())`,
  )
  const me = await compare(run(file, 'me'), fetchOnce)
  const poll = await compare(run(file, 'feed', 'poll', '--once'), fetchOnce)
  console.log({ me, poll })
  expect(me.ratio).toBeLessThanOrEqual(2)
  expect(poll.ratio).toBeLessThanOrEqual(2)
})
