import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClient } from '../../client/src/index.ts'
import { seedBooking, sharedServices, testApp } from '../support/app.ts'
import { commandLine } from '../support/command-line.ts'
import { partnerctl } from '../support/processes.ts'

/** What the commands and the client say to a partner whose position is ahead of the feed (decisions §9). */

const service = await testApp()
const [server] = sharedServices()
const far = '2090-01-01 00:00:00'
const sentence =
  /^The position "2090-01-01 00:00:00" is ahead of the booking feed, whose newest version is "[\d: -]+", so nothing can come: it is from another service or from before a restore\. To start again, /

async function partner() {
  const actor = await service.actor()
  await seedBooking(actor)
  const state = await mkdtemp(join(tmpdir(), 'partner-ahead-'))
  const environment = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: actor.key, XDG_STATE_HOME: state }
  const client = createClient({ key: actor.key, baseUrl: server.url })
  return { actor, environment, client, run: (...args: string[]) => partnerctl(args, environment) }
}

test.concurrent('feed poll says once that its position is ahead, and how to start again', async ({
  expect,
}) => {
  const { run } = await partner()
  const poll = await run('feed', 'poll', '--once', '--since', far, '--output', 'ndjson')
  expect(poll).toEqual({ code: 0, stdout: '', stderr: expect.stringMatching(sentence) })
  expect(poll.stderr.trimEnd().split('\n')).toHaveLength(1)
  const messages = await run('messages', 'poll', '--once', '--since', far)
  expect(messages.stderr).toContain('is ahead of the message feed, whose newest version is ')
  const near = await run('feed', 'poll', '--once', '--since', '2020-01-01 00:00:00', '--output', 'ndjson')
  expect(near.stderr).toBe('')
})

test.concurrent('a poll that goes on says it once, not at every pause', async ({ expect }) => {
  const { environment } = await partner()
  const command = [...commandLine, 'feed', 'poll', '--since', far, '--interval', '0s']
  const child = Bun.spawn(command, { env: environment, stdout: 'ignore', stderr: 'pipe' })
  let printed = ''
  const reading = (async () => {
    const reader = child.stderr.getReader()
    const decoder = new TextDecoder()
    for (let part = await reader.read(); !part.done; part = await reader.read())
      printed += decoder.decode(part.value)
  })()
  await expect.poll(() => printed).toMatch(sentence)
  child.kill('SIGTERM')
  await child.exited
  await reading
  expect(printed.trimEnd().split('\n')).toHaveLength(1)
})

test.concurrent('doctor fails if the checkpoint is ahead, and says what to do on standard error', async ({
  expect,
}) => {
  const { actor, environment, run } = await partner()
  await run('feed', 'poll', '--once', '--output', 'ndjson')
  const file = [...new Bun.Glob('partnerctl/feed-*.json').scanSync(environment.XDG_STATE_HOME)][0] as string
  const path = join(environment.XDG_STATE_HOME, file)
  const [first] = (await Bun.file(path).text()).split('\n')
  await Bun.write(path, `${JSON.stringify({ ...JSON.parse(first as string), version: far })}\n`)
  const { code, stdout, stderr } = await run('doctor', '--json')
  const feed = JSON.parse(stdout).find(({ check }: { check: string }) => check === 'feed')
  expect({ code, feed }).toEqual({
    code: 1,
    feed: { check: 'feed', state: 'failed', detail: expect.stringContaining(`${far} is ahead of the feed`) },
  })
  expect(stderr).toMatch(sentence)
  expect(actor.keyId).toBeGreaterThan(0)
})

test.concurrent('listen says it for a version that is ahead', async ({ expect }) => {
  const { environment } = await partner()
  const events = ['--events', 'booking.changed', '--forward-to', 'http://127.0.0.1:9']
  const child = Bun.spawn([...commandLine, 'listen', ...events, '--since', far], {
    env: environment,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  let printed = ''
  const reading = (async () => {
    const reader = child.stderr.getReader()
    const decoder = new TextDecoder()
    for (let part = await reader.read(); !part.done; part = await reader.read())
      printed += decoder.decode(part.value)
  })()
  await expect.poll(() => printed).toMatch(/is ahead of the booking feed/)
  child.kill('SIGTERM')
  await child.exited
  await reading
  expect(printed.match(/is ahead of/g)).toHaveLength(1)
})

test('the client tells of a position ahead by a callback and by a page, and acknowledges nothing', async () => {
  const { client } = await partner()
  const told: unknown[] = []
  const pages: unknown[] = []
  const feed = client.bookings.feed({ after: far, onAhead: (ahead) => told.push(ahead) })
  for await (const { items, checkpoint, meta } of feed.pages())
    pages.push({ items, checkpoint, ahead: meta.ahead, newest: meta.newest_version })
  const newest = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  expect(pages).toEqual([{ items: [], checkpoint: far, ahead: true, newest }])
  expect(told).toEqual([{ after: far, newestVersion: newest }])
  const changes: unknown[] = []
  for await (const change of client.bookings.feed({ after: far })) changes.push(change)
  expect(changes).toEqual([])
})
