import { createInterface } from 'node:readline/promises'

/** Option of commands whose effect cannot be undone. */
export const yesArgument = {
  yes: {
    type: 'boolean',
    description: 'Do not ask for confirmation (without a terminal nothing is asked anyway)',
  },
} as const

/** Error thrown when the user declines a confirmation, before anything was done. */
export class DeclinedError extends Error {
  override readonly name = 'DeclinedError'
}

/**
 * Asks for confirmation of an action that cannot be undone. Asks on a terminal only, because a script has already
 * decided.
 *
 * @throws DeclinedError unless confirmed
 */
export async function confirm(args: { yes?: boolean | undefined }, question: string): Promise<void> {
  if (args.yes || !process.stdin.isTTY) return
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(`${question} This cannot be undone. Continue? [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new DeclinedError('Nothing was changed')
  } finally {
    terminal.close()
  }
}
