import { renderUsage } from 'citty'
import { commandExamples } from './command.ts'
import { adminSummary, main, partnerSummary } from './program.ts'

/** Returns the help text, with examples, for the command that the arguments name; the text may be coloured. */
export async function helpOf(rawArgs: string[]): Promise<string> {
  // biome-ignore lint/suspicious/noExplicitAny: citty's commands differ in their argument types
  let [command, parent]: [any, any] = [main, undefined]
  for (const word of rawArgs) {
    const next = (await command.subCommands)?.[word]
    if (!next) break
    parent = command
    command = typeof next === 'function' ? await next() : next
  }
  if (command === main) return helpOfAll()
  const shown = commandExamples(command)
  const tail = shown.length > 0 ? `\nEXAMPLES\n\n${shown.map((line) => `  ${line}`).join('\n')}\n` : ''
  return (await renderUsage(command, parent)) + tail
}

/** Returns the top-level help, which lists partner and administrator commands separately. */
async function helpOfAll(): Promise<string> {
  const ofPartners = (await renderUsage(partnerSummary)).split('\n')
  const ofAdministrators = (await renderUsage(adminSummary)).split('\n')
  return [
    ofPartners[0],
    '\nUSAGE partnerctl <command>',
    '\nCOMMANDS OF PARTNERS, which speak to the service with a key\n',
    ...commandsIn(ofPartners),
    '\nCOMMANDS OF ADMINISTRATORS, which open the database (MONGODB_URL or DATA_DIR)\n',
    ...commandsIn(ofAdministrators),
    '\nUse partnerctl <command> --help for more information about a command.',
  ].join('\n')
}

/** Returns the lines that list commands, from the second line after the heading to the next empty line. */
function commandsIn(lines: string[]): string[] {
  const first = lines.findIndex((line) => line.includes('COMMANDS')) + 2
  return lines.slice(first, lines.indexOf('', first)).map((line) => line.trimEnd())
}
