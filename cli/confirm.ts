import { createInterface } from 'node:readline/promises'

/** Option for commands whose effect cannot be undone. */
export const yesArgument = {
  yes: {
    type: 'boolean',
    description: 'Do not ask for confirmation (without a terminal nothing is asked anyway)',
  },
} as const

/** Error thrown when the user declines to confirm. Nothing has been done at that point. */
export class DeclinedError extends Error {
  override readonly name = 'DeclinedError'
}

/**
 * Asks the user to confirm an action that cannot be undone. Asks only on a terminal, because a script has already
 * decided.
 *
 * @throws DeclinedError unless the user confirms
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
