#!/usr/bin/env bun
import { runCommand } from 'citty'
import packageJson from '../package.json' with { type: 'json' }
import { exitCode } from './errors.ts'
import { note, show } from './output.ts'
import { helpOf, main } from './program.ts'

// The user's paths are relative to the folder in which `bin/partnerctl` was run.
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
    // Loaded only after an error, because the module imports the service's error classes.
    const { formatError } = await import('./format-error.ts')
    const { text, code } = formatError(error)
    note(text)
    await end(code)
  }
}

/** Exits once all output has been read. Exiting earlier would truncate the output if the reader is slow. */
async function end(code: number): Promise<void> {
  const taken = (stream: NodeJS.WriteStream) => new Promise<void>((resolve) => stream.end(resolve))
  await Promise.all([taken(process.stdout), taken(process.stderr)])
  process.exit(code)
}
