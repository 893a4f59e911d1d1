#!/usr/bin/env bun
import { runCommand } from 'citty'
import packageJson from '../package.json' with { type: 'json' }
import { exitCode } from './errors.ts'
import { helpOf } from './help.ts'
import { note, show } from './output.ts'
import { main } from './program.ts'

// Paths of the user are those of the folder that `bin/partnerctl` was called in.
if (process.env.PARTNERCTL_FOLDER) process.chdir(process.env.PARTNERCTL_FOLDER)
delete process.env.PARTNERCTL_FOLDER

await run(process.argv.slice(2))

async function run(rawArgs: string[]): Promise<void> {
  if (rawArgs[0] === '--version' || rawArgs[0] === '-v')
    return void process.stdout.write(`${packageJson.version}\n`)
  const isHelp = rawArgs.length === 0 || rawArgs.includes('--help') || rawArgs.includes('-h')
  if (isHelp) return show(await helpOf(rawArgs))
  try {
    await runCommand(main, { rawArgs })
    await end(exitCode.done)
  } catch (error) {
    // What knows the errors of the service is loaded only when there is one.
    const { formatError } = await import('./format-error.ts')
    const { text, code } = formatError(error)
    note(text)
    await end(code)
  }
}

/** Ends once what was printed has been taken: an exit would cut it off where the reader is slow. */
async function end(code: number): Promise<void> {
  const taken = (stream: NodeJS.WriteStream) => new Promise<void>((resolve) => stream.end(resolve))
  await Promise.all([taken(process.stdout), taken(process.stderr)])
  process.exit(code)
}
