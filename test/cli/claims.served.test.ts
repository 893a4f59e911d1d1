import {
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { claimFile, FileClaimedError, NoClaimError } from '../../cli/partner/file-claim.ts'
import { type Actor, seedBooking, sharedServices, testApp } from '../support/app.ts'
import { commandLine } from '../support/command-line.ts'
import { feedPoller } from '../support/feed-poller.ts'
import { partnerctl, root } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()

/** Polls that are killed after the file's tests, which wait side by side. */
const polls: Bun.Subprocess[] = []
const killAtEnd = (poll: Bun.Subprocess) => void polls.push(poll)
afterAll(() => {
  for (const poll of polls) poll.kill('SIGKILL')
})

/** An actor with three bookings, and its poll. */
async function threeChanges() {
  const actor = await service.actor()
  const { booking_id, user_id, listing_id, room_type_id } = await seedBooking(actor)
  const ids = [booking_id]
  /** Adds a booking in the month. */
  const add = async (month: string): Promise<number> => {
    const stay = { checkin_at: `2031-${month}-01`, checkout_at: `2031-${month}-05` }
    const body = { user_id, listing_id, room_type_id, ...stay }
    return (await actor.send('POST', '/v1/bookings', { body })).body.data.booking_id
  }
  for (const month of ['03', '04']) ids.push(await add(month))
  return { actor, ids, add, poller: await feedPoller(actor, server.url) }
}

type Poller = Awaited<ReturnType<typeof feedPoller>>

/** Arguments of a poll that prints one line for each change. */
const printing = ['--output', 'ndjson'] as const

/** Starts a poll on another host: with a name, processes and process ids of its own, as in a container. */
function startElsewhere(actor: Actor, { home, state }: Poller, ...args: string[]) {
  const namespaces = ['--user', '--map-root-user', '--uts', '--pid', '--fork', '--kill-child']
  const command = [...commandLine, 'feed', 'poll', '--state', state, ...args]
  const child = Bun.spawn(
    ['unshare', ...namespaces, 'sh', '-c', 'hostname web-2; exec "$@"', 'sh', ...command],
    {
      cwd: root,
      env: {
        PATH: process.env.PATH ?? '',
        PARTNER_BASE_URL: server.url,
        PARTNER_API_KEY: actor.key,
        XDG_STATE_HOME: home,
      },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  killAtEnd(child)
  return child
}

/** Returns the paths of the claims in a folder. */
async function claimsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  return names.filter((name) => name.startsWith('.claim-')).map((name) => join(folder, name))
}

/** Gives the claims in a folder a time as if they had been renewed last so many seconds ago. */
async function age(folder: string, seconds: number) {
  const time = new Date(Date.now() - seconds * 1000)
  for (const path of await claimsIn(folder)) await utimes(path, time, time)
}

/** Returns the ids in a file to which handlers write one on each line. */
const idsOf = (log: string) => log.split('\n').filter(Boolean).map(Number)

/** Returns the ids of the bookings that a poll printed. */
const idsIn = (lines: string) =>
  lines
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).booking_id as number)

test.concurrent('a second poll with the state file of a living one is refused and says who holds it, until that one has ended', async () => {
  const { poller } = await threeChanges()
  const first = poller.start('--interval', '1h')
  killAtEnd(first)
  await first.stdout.getReader().read()
  // However old the claim is: a process of this host that runs holds it.
  await age(poller.home, 3600)
  const second = await poller.run('--once')
  expect(second).toEqual({
    code: 1,
    stdout: '',
    stderr: `Another poll (process ${first.pid}) is using "${poller.state}": stop it first, because a poll with another --state would hand everything over again\n`,
  })
  first.kill('SIGTERM')
  expect({ code: await first.exited, claims: await claimsIn(poller.home) }).toEqual({ code: 0, claims: [] })
  expect(await poller.run('--once')).toEqual({ code: 0, stdout: '', stderr: '' })
})

test.concurrent('the state file of a poll that was killed is free at once', async () => {
  const { poller } = await threeChanges()
  const first = poller.start('--interval', '1h')
  await first.stdout.getReader().read()
  first.kill('SIGKILL')
  await first.exited
  expect(await claimsIn(poller.home)).toHaveLength(1)
  expect(await poller.run('--once')).toMatchObject({ code: 0, stderr: '' })
  expect(await claimsIn(poller.home)).toEqual([])
})

test.concurrent('a claim of another host is named, and counts until it has not been renewed for 60 s', async () => {
  const { actor, poller } = await threeChanges()
  const first = startElsewhere(actor, poller, '--interval', '1h')
  await first.stdout.getReader().read()
  first.kill('SIGKILL')
  await first.exited
  const future = new Date(Date.now() + 30_000)
  for (const path of await claimsIn(poller.home)) await utimes(path, future, future)
  const refused = await poller.run('--once')
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toMatch(
    /^Another poll \(process 1 on host "web-2"\) is using ".+": stop it first, .+\. If it has ended already, start this poll again in \d\d s, when its claim has run out\n$/,
  )
  await age(poller.home, 61)
  expect(await poller.run('--once')).toMatchObject({ code: 0, stderr: '' })
  expect(await claimsIn(poller.home)).toEqual([])
})

test.concurrent('a poll that was paused while another one took its state file over handles and stores nothing more', async ({
  expect,
}) => {
  const { actor, ids, poller } = await threeChanges()
  const { home, state } = poller
  const go = join(home, 'go')
  const log = join(home, 'log')
  const exec = `echo "$PARTNER_BOOKING_ID" >> ${log}; while ! [ -e ${go} ]; do sleep 0.05; done`
  const first = startElsewhere(actor, poller, '--once', '--exec', exec)
  await expect.poll(() => readFile(log, 'utf8').catch(() => ''), { timeout: 20_000 }).not.toBe('')
  const children = await readFile(`/proc/${first.pid}/task/${first.pid}/children`, 'utf8')
  const paused = Number(children.trim())
  process.kill(paused, 'SIGSTOP')
  await age(home, 61)
  const second = await poller.run('--once', ...printing)
  expect({ code: second.code, ids: idsIn(second.stdout) }).toEqual({ code: 0, ids })
  const stored = await readFile(state, 'utf8')
  await writeFile(go, '')
  process.kill(paused, 'SIGCONT')
  const end = { code: await first.exited, stderr: await new Response(first.stderr).text() }
  expect(end).toEqual({
    code: 1,
    stderr: expect.stringContaining(`This poll no longer holds "${state}"`),
  })
  expect({ handled: await readFile(log, 'utf8'), stored: await readFile(state, 'utf8') }).toEqual({
    handled: `${ids[0]}\n`,
    stored,
  })
})

test.concurrent.each([
  ['removed', 'rm'],
  ['replaced', 'sed -i s/./x/'],
])(
  'a claim that is %s by somebody else is noticed before the next change is handled or stored',
  async (_, change) => {
    const { poller, ids } = await threeChanges()
    const log = join(poller.home, 'log')
    const exec = `echo "$PARTNER_BOOKING_ID" >> ${log}; ${change} ${poller.home}/.claim-*`
    const { code, stderr } = await poller.run('--once', '--exec', exec)
    expect({ code, stderr, handled: await readFile(log, 'utf8') }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^This poll no longer holds ".+\n$/),
      handled: `${ids[0]}\n`,
    })
    await rm(log)
    for (const path of await claimsIn(poller.home)) await rm(path)
    // Nothing was stored, so the change comes again.
    const again = await poller.run('--once', ...printing)
    expect(idsIn(again.stdout)).toEqual(ids)
  },
)

test.concurrent('a poll whose claim is removed while it pauses hands over nothing that comes afterwards', async ({
  expect,
}) => {
  const { poller, ids, add } = await threeChanges()
  const log = join(poller.home, 'log')
  const child = poller.start('--interval', '0.1s', '--exec', `echo "$PARTNER_BOOKING_ID" >> ${log}`)
  killAtEnd(child)
  const handled = async () => idsOf(await readFile(log, 'utf8').catch(() => ''))
  await expect.poll(handled).toEqual(ids)
  for (const path of await claimsIn(poller.home)) await rm(path)
  await add('05')
  expect({
    code: await child.exited,
    stderr: await new Response(child.stderr).text(),
    handled: await handled(),
  }).toEqual({ code: 1, stderr: expect.stringContaining('This poll no longer holds'), handled: ids })
})

test.concurrent('a claim that cannot be read counts by its time', async () => {
  const { poller } = await threeChanges()
  const { state, home } = poller
  const own = await claimFile(state)
  const [path = ''] = await claimsIn(home)
  await writeFile(path, '')
  expect(await poller.run('--once')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Another poll (a process whose claim cannot be read) is using'),
  })
  await age(home, 61)
  expect(await poller.run('--once')).toMatchObject({ code: 0, stderr: '' })
  await own.release()
})

test.concurrent('a folder that allows no claim is named with the reason, and the state file is not blamed', async () => {
  const actor = await service.actor()
  const environment = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: actor.key }
  // Nobody may make a file there, not even root.
  const refused = await partnerctl(['feed', 'poll', '--once', '--state', '/sys/state.json'], environment)
  expect(refused).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^Cannot make a file in "\/sys" that keeps other polls from using the same state file: [a-z -]+; make the folder writable, name a file elsewhere with --state, or use --consumer\n$/,
    ),
  })
  await expect(claimFile('/sys/state.json')).rejects.toThrow(NoClaimError)
})

test.concurrent('claims that were never finished are removed once they are old', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-claims-'))
  const file = join(folder, 'file')
  const claim = await claimFile(file)
  const [path = ''] = await claimsIn(folder)
  await claim.release()
  await writeFile(`${path}.new`, '')
  await (await claimFile(file)).release()
  const recent = (await claimsIn(folder)).length
  await writeFile(`${path}.ended`, '')
  await age(folder, 61)
  await (await claimFile(file)).release()
  expect({ recent, old: (await claimsIn(folder)).length }).toEqual({ recent: 1, old: 0 })
})

test.concurrent('a claim that was renewed while somebody moved it away still counts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-claims-'))
  const file = join(folder, 'file')
  const claim = await claimFile(file)
  const [path = ''] = await claimsIn(folder)
  const text = await readFile(path, 'utf8')
  await claim.release()
  const elsewhere = { ...JSON.parse(text), host: 'web-2', place: 'elsewhere' }
  await writeFile(`${path}.ended`, JSON.stringify(elsewhere))
  await expect(claimFile(file, 0)).rejects.toThrow(FileClaimedError)
  await rename(`${path}.ended`, path)
  await expect(claimFile(file, 0)).rejects.toThrow(FileClaimedError)
})

test.concurrent.each([['a file'], ['a file that does not exist yet']])(
  'a poll by a symbolic link to %s and one by the file itself never run together, and the link stays',
  async (kind) => {
    const { poller } = await threeChanges()
    const link = join(poller.home, 'link.json')
    await symlink('state.json', link)
    if (kind === 'a file') expect(await poller.run('--once')).toMatchObject({ code: 0 })
    const since = ['--since', '2000-01-01 00:00:00']
    const first = poller.start('--state', link, '--interval', '1h', ...since)
    killAtEnd(first)
    await first.stdout.getReader().read()
    expect(await poller.run('--once', ...since)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`Another poll (process ${first.pid}) is using`),
    })
    first.kill('SIGTERM')
    expect({ code: await first.exited, target: await readlink(link) }).toEqual({
      code: 0,
      target: 'state.json',
    })
    expect(await poller.run('--once')).toEqual({ code: 0, stdout: '', stderr: '' })
  },
)
