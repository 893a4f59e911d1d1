import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { seedBooking, testApp, testEnvironment } from '../../support/app.ts'
import { commandLine } from '../../support/command-line.ts'
import { feedPoller } from '../../support/feed-poller.ts'
import { root, startService } from '../../support/processes.ts'

const service = await testApp()
const server = await startService(testEnvironment())
afterAll(() => server.stop())

/** Starts a poll that waits for changes in a namespace of process ids of its own, so that others cannot look at it. */
async function startInNamespace() {
  const actor = await service.actor()
  await seedBooking(actor)
  const poller = await feedPoller(actor, server.url)
  const child = Bun.spawn(
    [
      'unshare',
      '--user',
      '--map-root-user',
      '--pid',
      '--fork',
      '--kill-child',
      ...commandLine,
      'feed',
      'poll',
      '--follow',
      '--state',
      poller.state,
    ],
    {
      cwd: root,
      env: { PATH: process.env.PATH ?? '', PARTNER_BASE_URL: server.url, PARTNER_API_KEY: actor.key },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  onTestFinished(() => child.kill('SIGKILL'))
  await child.stdout.getReader().read()
  return { child, ...poller }
}

/** How long a claim counts without renewal (decisions §15). */
const lifetimeSeconds = 60

test('a claim that nobody can look behind is renewed while its poll lives, and ends 60 s after a kill', async () => {
  const { child, run } = await startInNamespace()
  await Bun.sleep((lifetimeSeconds + 15) * 1000)
  const refused = await run('--once')
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Another poll (process 1 on host'),
  })
  child.kill('SIGKILL')
  await child.exited
  const start = performance.now()
  const codeOf = async () => (await run('--once')).code
  await expect.poll(codeOf, { interval: 1000, timeout: 2 * lifetimeSeconds * 1000 }).toBe(0)
  const seconds = (performance.now() - start) / 1000
  // The last renewal was up to 10 s before the kill.
  expect(seconds).toBeGreaterThan(lifetimeSeconds - 15)
  expect(seconds).toBeLessThan(lifetimeSeconds + 15)
})

test('a poll that waits for changes ends when its claim is gone', async () => {
  const { child, home } = await startInNamespace()
  const claims = (await readdir(home)).filter((name) => name.startsWith('.claim-'))
  expect(claims).toHaveLength(1)
  for (const name of claims) await rm(join(home, name))
  expect({ code: await child.exited, stderr: await new Response(child.stderr).text() }).toEqual({
    code: 1,
    stderr: expect.stringContaining('This poll no longer holds'),
  })
})
