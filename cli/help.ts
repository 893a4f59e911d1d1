import { renderUsage } from 'citty'
import { commandExamples } from './command.ts'
import { main, summary } from './program.ts'

/** The help of the command that these arguments name, with its examples; may be coloured. */
export async function helpOf(rawArgs: string[]): Promise<string> {
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
  return (await renderUsage(command === main ? summary : command, parent)) + tail
}
