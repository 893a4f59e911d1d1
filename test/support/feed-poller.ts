import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Actor } from './app.ts'
import { commandLine } from './command-line.ts'
import { partnerctl, root } from './processes.ts'

/** Starts `partnerctl feed poll` for an actor, with a state file in a temporary folder. */
export async function feedPoller(actor: Actor, baseUrl: string) {
  const home = await mkdtemp(join(tmpdir(), 'partner-poll-'))
  const environment = {
    PATH: process.env.PATH ?? '',
    PARTNER_BASE_URL: baseUrl,
    PARTNER_API_KEY: actor.key,
    XDG_STATE_HOME: home,
  }
  const state = join(home, 'state.json')
  return {
    home,
    state,
    run: (...args: string[]) => partnerctl(['feed', 'poll', '--state', state, ...args], environment),
    start: (...args: string[]) =>
      Bun.spawn([...commandLine, 'feed', 'poll', '--state', state, ...args], {
        cwd: root,
        env: environment,
        stdout: 'pipe',
        stderr: 'pipe',
      }),
  }
}
