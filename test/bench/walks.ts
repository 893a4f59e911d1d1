import { join } from 'node:path'
import { partnerctl } from '../support/processes.ts'
import { median, medianMilliseconds, timed, withDataDir } from './measure.ts'
import type { BenchServers } from './servers.ts'
import { atMost, type Row } from './table.ts'

const rounds = 3
const perPage = 100

interface Page {
  data: { Bookings: unknown[] }
  meta: { pagination: { last_page: number; next_cursor: string | null } }
}

/** Measures reading the whole feed of a host with 100,000 bookings: by page, by cursor and with the command. */
export async function walks(servers: BenchServers): Promise<Row[]> {
  const { large, url } = servers
  const read = async (query: string): Promise<Page> => {
    const path = `${url}/v1/integrations/provider_one/bookings?per_page=${perPage}&${query}`
    const response = await fetch(path, { headers: { 'x-api-key': large.key } })
    if (!response.ok) throw new Error(`${path} responded ${response.status}`)
    return (await response.json()) as Page
  }
  const times = { byPage: [] as number[], byCursor: [] as number[], command: [] as number[] }
  for (let round = 0; round < rounds; round += 1) {
    times.byCursor.push(await timed(() => walkByCursor(read)))
    // Page ends are stored per query, so a new query has no stored page ends yet.
    times.byPage.push(
      await timed(() => walkByPage((query) => read(`updated_after=200${round}-01-01 00:00:00&${query}`))),
    )
    times.command.push(await timed(() => pollOnce(servers)))
  }
  const { last_page } = (await read('page=1')).meta.pagination
  // The second-to-last page was never read, so the start of the last page is not stored.
  const query = 'updated_after=2003-01-01'
  const { jump, first } = await medianMilliseconds(
    { jump: () => read(`page=${last_page}&${query}`), first: () => read(`page=1&${query}`) },
    20,
  )
  const byPage = median(times.byPage)
  const byCursor = median(times.byCursor)
  const command = median(times.command)
  const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`
  const against = `${seconds(byCursor)} of a loop by cursor`
  return [
    atMost({
      work: `walk of 100,000 by page: ${seconds(byPage)}`,
      ratio: byPage / byCursor,
      limit: 1.5,
      of: against,
    }),
    atMost({
      work: 'jump to the last page',
      ratio: jump / first,
      limit: 3,
      of: 'the time of page 1',
    }),
    atMost({
      work: `feed poll --once of 100,000: ${seconds(command)}`,
      ratio: command / byCursor,
      limit: 5,
      of: against,
    }),
  ]
}

async function walkByCursor(read: (query: string) => Promise<Page>): Promise<void> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { meta }: Page = await read(cursor && `cursor=${cursor}`)
    cursor = meta.pagination.next_cursor
  }
}

async function walkByPage(read: (query: string) => Promise<Page>): Promise<void> {
  let last = 1
  for (let page = 1; page <= last; page += 1) {
    const { meta } = await read(`page=${page}`)
    last = meta.pagination.last_page
  }
}

/** Runs a poll that starts without a checkpoint and prints every change. */
function pollOnce({ large, url }: BenchServers): Promise<void> {
  return withDataDir(async (directory) => {
    const { code, stdout, stderr } = await partnerctl(
      ['feed', 'poll', '--once', '--output', 'ndjson', '--state', join(directory, 'state')],
      { PARTNER_BASE_URL: url, PARTNER_API_KEY: large.key, HOME: directory },
    )
    if (code !== 0 || stdout.split('\n').length < 100_000) throw new Error(`The poller failed: ${stderr}`)
  })
}

/** Measures how long the command line takes to print its help. */
export async function help(): Promise<Row[]> {
  const { empty, full } = await medianMilliseconds(
    { empty: () => Bun.$`${process.execPath} -e 0`.quiet(), full: () => partnerctl(['--help'], {}) },
    15,
  )
  return [
    atMost({
      work: `partnerctl --help: ${(full / 1000).toFixed(3)} s`,
      ratio: full / 1000,
      limit: 0.15,
      of: 's',
      result: `${(full / empty).toFixed(1)} × an empty program`,
      aim: '≤ 0.15 s',
    }),
  ]
}
