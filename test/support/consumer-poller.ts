import { mkdtemp, open, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seedBooking, type TestApp } from './app.ts'
import { commandLine } from './command-line.ts'
import { partnerctl } from './processes.ts'

/** Creates a host, and a poller of its feed that needs no disk. */
export async function consumerPoller(service: TestApp, baseUrl: string) {
  const actor = await service.actor({ rateLimit: 1_000_000 })
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const folder = await mkdtemp(join(tmpdir(), 'partner-consumer-'))
  const environment = {
    PATH: process.env.PATH ?? '',
    PARTNER_BASE_URL: baseUrl,
    PARTNER_API_KEY: actor.key,
    XDG_STATE_HOME: folder,
  }
  const file = join(folder, 'handled')
  return {
    actor,
    folder,
    book: () => actor.send('POST', '/v1/bookings', { body: stay }),
    poll(...args: string[]) {
      const output = args.includes('--exec') ? [] : ['--output', 'ndjson']
      return partnerctl(['feed', 'poll', '--once', ...output, ...args], environment)
    },
    start: (...args: string[]) =>
      Bun.spawn([...commandLine, 'feed', 'poll', ...args], {
        env: environment,
        // A poll without --exec refuses an output that discards everything.
        stdout: 'pipe',
        stderr: 'ignore',
      }),
    /** Starts a poller that appends the changes it handles to a file. */
    async follow(...args: string[]) {
      const output = await open(file, 'a')
      const command = [...commandLine, 'feed', 'poll', '--follow', '--output', 'ndjson', ...args]
      const child = Bun.spawn(command, { env: environment, stdout: output.fd, stderr: 'ignore' })
      child.exited.finally(() => output.close())
      return child
    },
    handled: async () =>
      (await readFile(file, 'utf8'))
        .split('\n')
        .filter((line) => line.endsWith('}'))
        .map((line) => JSON.parse(line).version as string),
    truth: async () => {
      const versions: string[] = []
      let last = 1
      for (let page = 1; page <= last; page += 1) {
        const path = `/v1/integrations/provider_one/bookings?per_page=100&page=${page}`
        const { data, meta } = (await actor.send('GET', path)).body
        versions.push(...data.Bookings.map(({ version }: { version: string }) => version))
        last = meta.pagination.last_page
      }
      return versions
    },
  }
}
