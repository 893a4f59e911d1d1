#!/usr/bin/env bun
import { renderUsage, runCommand } from 'citty'
import packageJson from '../package.json' with { type: 'json' }
import { commandExamples } from './command.ts'
import { exitCode } from './errors.ts'
import { note, show } from './output.ts'
import { main, summary } from './program.ts'

await run(process.argv.slice(2))

async function run(rawArgs: string[]): Promise<void> {
  if (rawArgs[0] === '--version' || rawArgs[0] === '-v')
    return void process.stdout.write(`${packageJson.version}\n`)
  const isHelp = rawArgs.length === 0 || rawArgs.includes('--help') || rawArgs.includes('-h')
  if (isHelp) return showHelp(rawArgs)
  try {
    await runCommand(main, { rawArgs })
    process.exit(exitCode.done)
  } catch (error) {
    // What knows the errors of the service is loaded only when there is one.
    const { formatError } = await import('./format-error.ts')
    const { text, code } = formatError(error)
    note(text)
    process.exit(code)
  }
}

async function showHelp(rawArgs: string[]): Promise<void> {
  // biome-ignore lint/suspicious/noExplicitAny: citty's commands differ in their argument types
  let [command, parent]: [any, any] = [main, undefined]
  for (const word of rawArgs) {
    const next = (await command.subCommands)?.[word]
    if (!next) break
    parent = command
    command = typeof next === 'function' ? await next() : next
  }
  const shown = commandExamples(command)
  const tail = shown.length > 0 ? `\nEXAMPLES\n\n${shown.map((line) => `  ${line}`).join('\n')}\n` : ''
  show((await renderUsage(command === main ? summary : command, parent)) + tail)
}
