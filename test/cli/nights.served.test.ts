import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { drawNights } from '../../cli/partner/draw-nights.ts'
import { addDays } from '../../src/core/clock.ts'
import { sharedServices, testApp } from '../support/app.ts'
import { commandLine } from '../support/command-line.ts'
import { awaitDay } from '../support/midnight.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()

const rowOf = (name: string, left: (number | null)[], start = '2027-01-25') => ({
  name,
  nights: left.map((one, index) => ({ date: addDays(start, index), left: one })),
})

test('drawNights() draws a line for each room type and a cell for each night', () => {
  const rows = [rowOf('Single', [2, 0, null, 1, 1, 1, 1, 12]), rowOf('Double room', [0, 0, 3, 3, 3, 3, 3, 3])]
  expect(stripVTControlCharacters(drawNights(rows, 80))).toBe(
    [
      '             Jan 2027             Feb',
      '              25 26 27 28 29 30 31  1',
      'Single         2  ×  ·  1  1  1  1 12',
      'Double room    ×  ×  3  3  3  3  3  3',
      '',
      'Units left on each night (× full, · open: no range covers the night)',
    ].join('\n'),
  )
})

test.each([80, 200])('drawNights() fits into %i columns, with every night once', (width) => {
  const left = Array.from({ length: 366 }, (_, index) => (index % 7 === 0 ? 0 : index))
  const drawn = stripVTControlCharacters(
    drawNights([rowOf('単身部屋', left), rowOf('A'.repeat(40), left)], width),
  )
  for (const line of drawn.split('\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width)
  expect(drawn.match(/×/g)).toHaveLength(2 * 53 + 1)
  for (const name of ['Jan 2027', 'Jun 2027', 'Jan 2028']) expect(drawn).toContain(name)
})

test('partnerctl nights draws the calendar of a listing, in a terminal and without one', async () => {
  const { key } = await service.actor()
  const environment = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: key, PATH: process.env.PATH ?? '' }
  const args = ['nights', '2001', '--sandbox', '--from', '2027-03-01', '--to', '2027-04-30']
  const plain = await partnerctl(args, environment)
  expect(plain).toMatchObject({ code: 0, stdout: expect.stringContaining('Mar 2027') })
  expect(plain.stdout).toBe(stripVTControlCharacters(plain.stdout))
  for (const columns of [80, 200]) {
    const command = `stty cols ${columns}; ${commandLine.join(' ')} ${args.join(' ')}`
    const child = Bun.spawn(['script', '-qec', command, '/dev/null'], {
      env: { ...environment, TERM: 'xterm' },
      stdout: 'pipe',
    })
    const shown = stripVTControlCharacters(await new Response(child.stdout).text())
    const lines = shown.split(/\r?\n/)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
    expect(shown).toContain('Mar 2027')
    expect(shown).toContain('Apr 2027')
    expect(lines.filter((line) => /^\s+[\d ]+$/.test(line)).length).toBe(columns === 80 ? 3 : 1)
  }
  const json = await partnerctl([...args, '--json'], environment)
  expect(Object.values(JSON.parse(json.stdout))[0]).toHaveLength(61)
})

test("nights and doctor go by the sandbox's clock", async () => {
  await awaitDay()
  const actor = await service.actor()
  const advance_seconds = 3 * 86_400
  const moved = await actor.send('POST', '/sandbox/clock', { body: { advance_seconds } })
  const today: string = moved.body.data.now.slice(0, 10)
  const environment = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: actor.key }
  const nights = await partnerctl(['nights', '2001', '--sandbox', '--json'], environment)
  const [ofRoomType] = Object.values(JSON.parse(nights.stdout)) as [{ date: string }[]]
  const doctor = await partnerctl(['doctor', '--sandbox', '--json'], environment)
  const feed = JSON.parse(doctor.stdout).find(({ check }: { check: string }) => check === 'feed')
  const lag = Number(/^lag (\d+) s/.exec(feed.detail)?.[1])
  expect({ first: ofRoomType[0]?.date, nights: ofRoomType.length, lag }).toEqual({
    first: today,
    nights: 30,
    // Versions can be a few seconds ahead of the time at which the sandbox was filled.
    lag: expect.toSatisfy((seconds: number) => seconds > advance_seconds - 5),
  })
})

test('nights and doctor work while a certification runs, which keeps the clock to itself', async () => {
  const actor = await service.actor()
  await actor.send('POST', '/sandbox/certifications', { body: { profiles: ['feed'] } })
  await expect.poll(async () => (await actor.send('GET', '/sandbox/clock')).status).toBe(409)
  const environment = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: actor.key }
  for (const command of ['nights 2001', 'doctor']) {
    const { code, stderr } = await partnerctl([...command.split(' '), '--sandbox', '--json'], environment)
    expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: '' })
  }
})

test.each([
  [['nights', 'x'], 2, '"x" is not a valid id'],
  [['nights', '2001', '--from', '2027-02-30'], 2, '"2027-02-30" is not a valid date'],
  [
    ['nights', '2001', '--from', '2027-03-02', '--to', '2027-03-01'],
    1,
    'end_date: "end_date" must not be before "start_date"',
  ],
  [['nights', '9999'], 1, 'Listing not found or unauthorized'],
])('partnerctl %j fails in words', async (args, code, message) => {
  const { key } = await service.actor()
  const result = await partnerctl([...args, '--sandbox'], {
    PARTNER_BASE_URL: server.url,
    PARTNER_API_KEY: key,
  })
  expect(result).toMatchObject({ code, stderr: expect.stringContaining(message) })
})
