import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import { makeActor, seedBooking, sender } from '../support/app.ts'
import { node, servedFile } from '../support/command-line.ts'
import { root } from '../support/processes.ts'
import { medianMilliseconds, withDataDir } from './measure.ts'
import { withService } from './service.ts'
import { atMost, type Row } from './table.ts'

const rounds = 41

/**
 * Measures how long the command line takes for a poll that finds nothing new, as a cron job runs it each minute: from
 * the repository by its script, and from the file that partners get, in Node. Each is compared with a program that only
 * sends the feed's request, started in the same way.
 */
export function start(): Promise<Row[]> {
  return withService(({ db, service: { url } }) =>
    withDataDir(async (directory) => {
      const actor = await makeActor({ db, clock: systemClock }, sender(fetch, url))
      await seedBooking(actor)
      const headers = `{ 'x-api-key': process.env.PARTNER_API_KEY }`
      const request = `await (await fetch('${url}/v1/integrations/provider_one/bookings', { headers: ${headers} })).json()`
      const poll = ['feed', 'poll', '--once', '--state', join(directory, 'state')]
      const environment = {
        ...process.env,
        PARTNER_BASE_URL: url,
        PARTNER_API_KEY: actor.key,
        HOME: directory,
      }
      const run = (...command: string[]) => Bun.$`${command}`.cwd(directory).env(environment).quiet()
      const bun = join(root, 'bin/bun')
      const partnerctl = join(root, 'bin/partnerctl')
      const file = await servedFile()
      await run(partnerctl, ...poll)
      // With `-e ''`, Bun prints its help and runs nothing.
      const times = await medianMilliseconds(
        {
          emptyByBun: () => run(process.execPath, '-e', '0'),
          empty: () => run(bun, '-e', '0'),
          request: () => run(bun, '-e', request),
          version: () => run(partnerctl, '--version'),
          poll: () => run(partnerctl, ...poll),
          requestInNode: () => run(node, '--input-type=module', '-e', request),
          pollInNode: () => run(node, file, ...poll),
        },
        rounds,
      )
      return [
        {
          work: 'bin/bun',
          result: `${(times.empty / times.emptyByBun).toFixed(2)} × Bun without the script`,
        },
        {
          work: 'partnerctl --version',
          result: `${(times.version / times.empty).toFixed(2)} × an empty program`,
        },
        atMost({
          work: `feed poll --once, nothing new: ${times.poll.toFixed(0)} ms`,
          ratio: times.poll / times.request,
          limit: 2,
          of: `a program that only fetches, ${times.request.toFixed(0)} ms`,
        }),
        atMost({
          work: `the same with the file that partners get, in Node: ${times.pollInNode.toFixed(0)} ms`,
          ratio: times.pollInNode / times.requestInNode,
          limit: 1.3,
          of: `a program that only fetches, in Node, ${times.requestInNode.toFixed(0)} ms`,
        }),
      ]
    }),
  )
}
