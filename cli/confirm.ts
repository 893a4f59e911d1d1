import { createInterface } from 'node:readline/promises'

/** Argument of commands that cannot be undone. */
export const yesArgument = {
  yes: { type: 'boolean', description: 'Do not ask for confirmation' },
} as const

/** The answer was no: nothing was done. */
export class DeclinedError extends Error {
  override readonly name = 'Declined'
}

/**
 * Asks before something that cannot be undone. Only a terminal is asked: a script has decided.
 *
 * @throws Declined unless the answer is yes
 */
export async function confirm(args: { yes?: boolean | undefined }, question: string): Promise<void> {
  if (args.yes || !process.stdin.isTTY) return
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(`${question} This cannot be undone. Go on? [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new DeclinedError('Nothing was changed')
  } finally {
    terminal.close()
  }
}
