import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readState } from '../../../cli/partner/poll/state-file.ts'
import { toVersion } from '../../../src/host-clock/format.ts'
import { findBookingOfAnyHost } from '../../../src/stays/bookings/store.ts'
import { seedBooking, testApp, testEnvironment } from '../../support/app.ts'
import { node, servedFile } from '../../support/command-line.ts'
import { feedPoller } from '../../support/feed-poller.ts'
import { root, startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const rounds = 20 * soakFactor
const changesPerRound = 3

/** Makes a folder visible in another one, through a file system of its own, as on another host. */
async function mount(folder: string, at: string) {
  await mkdir(at)
  const mounted = Bun.spawnSync(['bindfs', folder, at])
  expect({ code: mounted.exitCode, stderr: mounted.stderr.toString() }).toEqual({ code: 0, stderr: '' })
  // A handler that outlived its poll may still use the folder.
  onTestFinished(() => {
    Bun.spawnSync(['fusermount', '-u', '-z', at])
  })
}

test(`of two polls on two mounts of one folder, one hands each change over and the other says why not, in ${rounds} rounds with kills`, async () => {
  const service = await testApp()
  const server = await startService(testEnvironment())
  onTestFinished(() => server.stop())
  const actor = await service.actor()
  const { booking_id, user_id, listing_id, room_type_id } = await seedBooking(actor)
  const { home } = await feedPoller(actor, server.url)
  const real = join(home, 'real')
  await mkdir(real)
  const mounts = [join(home, 'one'), join(home, 'other')]
  for (const at of mounts) await mount(real, at)
  const log = join(home, 'log')
  await writeFile(log, '')
  const handled = async () => (await readFile(log, 'utf8')).split('\n').filter(Boolean).map(Number)
  const programs = [
    [process.execPath, 'cli/main.ts'],
    [node, await servedFile()],
  ]
  const start = (at: number, ...options: string[]) =>
    Bun.spawn(
      [
        ...(programs[at] as string[]),
        'feed',
        'poll',
        '--state',
        join(mounts[at] as string, 'state.json'),
        '--exec',
        `echo "$PARTNER_BOOKING_ID" >> ${log}; sleep 0.02`,
        ...options,
      ],
      {
        cwd: root,
        env: {
          PATH: process.env.PATH ?? '',
          PARTNER_BASE_URL: server.url,
          PARTNER_API_KEY: actor.key,
          HOME: home,
        },
        stdout: 'ignore',
        stderr: 'pipe',
      },
    )
  const all = [booking_id]
  const refusals: string[] = []
  let killedWhileHandling = 0
  for (let round = 0; round < rounds; round += 1) {
    for (let count = 0; count < changesPerRound; count += 1) {
      const stay = { checkin_at: '2030-01-01', checkout_at: '2030-01-05' }
      const body = { user_id, listing_id, room_type_id, ...stay }
      all.push((await actor.send('POST', '/v1/bookings', { body })).body.data.booking_id)
    }
    const before = (await handled()).length
    const polls = [start(0, '--interval', '1h'), start(1, '--interval', '1h')]
    onTestFinished(() => {
      for (const poll of polls) poll.kill('SIGKILL')
    })
    await expect.poll(() => polls.filter(({ exitCode }) => exitCode !== null).length).toBe(1)
    const loser = polls.find(({ exitCode }) => exitCode !== null) as (typeof polls)[number]
    const winner = polls.find(({ exitCode }) => exitCode === null) as (typeof polls)[number]
    refusals.push(await new Response(loser.stderr).text())
    const isHandling = round % 4 === 3
    if (isHandling) {
      killedWhileHandling += 1
      await expect.poll(async () => (await handled()).length, { interval: 5 }).toBeGreaterThan(before)
    } else {
      const { updated_at } = await findBookingOfAnyHost(service.live.db, all.at(-1) as number)
      const stored = async () => (await readState(join(real, 'state.json')))?.version
      await expect.poll(stored).toBe(toVersion(updated_at))
    }
    winner.kill(round % 2 === 0 ? 'SIGTERM' : 'SIGKILL')
    await winner.exited
  }
  expect(await start(0, '--once').exited).toBe(0)
  const list = await handled()
  expect(list.filter((id, at) => list.indexOf(id) === at)).toEqual(all)
  expect(list.length - all.length).toBeLessThanOrEqual(killedWhileHandling)
  expect(
    refusals.filter((text) => !/^Another poll \(process \d+\) is using ".+": stop it/.test(text)),
  ).toEqual([])
})
