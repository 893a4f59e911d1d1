import { defineCommand, renderUsage, runCommand } from 'citty'
import packageJson from '../../package.json' with { type: 'json' }
import type { AnyCommand } from './command.ts'
import { exitCode } from './errors.ts'
import type { Explanation } from './format-error.ts'
import { note, noteIfPossible, show } from './output.ts'
import { OutputError } from './streams.ts'

/** Loads a file whose exports are commands. */
export type Load = () => Promise<Record<string, AnyCommand>>

/** Commands with their descriptions, each loaded only when it is run. */
export type Commands = Record<string, [description: string, load: Load]>

/** Commands that the top-level help lists under one heading. */
export interface CommandGroup {
  heading: string
  commands: Commands
  /** Commands in a group of other commands, such as `requests top`, that are listed here. */
  subcommands?: Commands
}

/** A command line: the commands of one role, or of all. */
export interface Program {
  main: AnyCommand
  groups: CommandGroup[]
  /** Explains an error that a command threw. */
  explain(error: unknown): Promise<Explanation>
}

export const { version } = packageJson

const meta = { name: 'partnerctl', version, description: 'The partner interface from the command line' }

/** Returns the root command; each subcommand is loaded only when it is needed. */
export function rootOf(groups: CommandGroup[]): AnyCommand {
  const all = groups.flatMap(({ commands }) => Object.entries(commands))
  return defineCommand({
    meta,
    subCommands: Object.fromEntries(
      all.map(([name, [description, load]]) => [
        name,
        async () => Object.assign((await load())[name] ?? {}, { meta: { name, description } }),
      ]),
    ),
  })
}

/**
 * Runs the command that the arguments name. Prints the command's error, if it fails, and returns its exit code. Any
 * command fails if its output cannot be written.
 */
export async function run(program: Program, rawArgs: string[]): Promise<number> {
  try {
    return await runOrExplain(program, rawArgs)
  } catch (error) {
    if (!(error instanceof OutputError)) throw error
    if (!error.isReaderGone) noteIfPossible(error.message)
    return exitCode.failed
  }
}

async function runOrExplain(program: Program, rawArgs: string[]): Promise<number> {
  if (rawArgs[0] === '--version' || rawArgs[0] === '-v') {
    show(version)
    return exitCode.done
  }
  if (rawArgs.length === 0 || rawArgs.includes('--help') || rawArgs.includes('-h')) {
    show(await helpOf(program, rawArgs))
    return exitCode.done
  }
  try {
    await runCommand(program.main, { rawArgs })
    return exitCode.done
  } catch (error) {
    if (error instanceof OutputError) throw error
    const { text, code } = await program.explain(error)
    note(text)
    return code
  }
}

/** Returns the help text, with examples, for the command that the arguments name; the text may be coloured. */
export async function helpOf({ main, groups }: Program, rawArgs: string[]): Promise<string> {
  let command = main
  const path: string[] = []
  for (const word of rawArgs) {
    const next = await subCommandOf(command, word)
    if (!next) break
    path.push(word)
    command = next
  }
  if (command === main) return helpOfAll(groups)
  // The usage line begins with the name of the parent, of which citty knows only the last word.
  const parent = defineCommand({ meta: { name: ['partnerctl', ...path.slice(0, -1)].join(' ') } })
  const { examples: shown = [] } = command
  const tail = shown.length > 0 ? `\nEXAMPLES\n\n${shown.map((line) => `  ${line}`).join('\n')}\n` : ''
  return (await renderUsage(command, parent)) + tail
}

async function subCommandOf({ subCommands }: AnyCommand, name: string): Promise<AnyCommand | undefined> {
  const all = await (typeof subCommands === 'function' ? subCommands() : subCommands)
  const found = all?.[name]
  return typeof found === 'function' ? found() : found
}

/** Returns the top-level help, which lists the commands of each group separately. */
async function helpOfAll(groups: CommandGroup[]): Promise<string> {
  const rendered = await Promise.all(
    groups.map(async ({ heading, commands, subcommands }) => {
      const lines = (await renderUsage(summaryOf({ ...commands, ...subcommands }))).split('\n')
      return { title: lines[0], text: [`\n${heading}\n`, ...commandsIn(lines)] }
    }),
  )
  return [
    rendered[0]?.title,
    '\nUSAGE partnerctl <command>',
    ...rendered.flatMap(({ text }) => text),
    '\nUse partnerctl <command> --help for more information about a command.',
  ].join('\n')
}

/** Returns the lines that list commands, from the second line after the heading to the next empty line. */
function commandsIn(lines: string[]): string[] {
  const first = lines.findIndex((line) => line.includes('COMMANDS')) + 2
  return lines.slice(first, lines.indexOf('', first)).map((line) => line.trimEnd())
}

/** Builds a root command from names and descriptions alone, without loading any subcommand. */
function summaryOf(commands: Commands): AnyCommand {
  const subCommands = Object.entries(commands).map(([name, [description]]) => [
    name,
    defineCommand({ meta: { name, description } }),
  ])
  return defineCommand({ meta, subCommands: Object.fromEntries(subCommands) })
}
