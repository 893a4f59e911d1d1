import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { drawingStream } from '../shared/package-streams.ts'

/** Asks a question on the terminal and hides what is typed. Returns undefined if the user cancels. */
export async function askSecret(question: string): Promise<string | undefined> {
  const shown = drawingStream()
  const hidden = new Writable({ write: (_, __, done) => done() })
  const reader = createInterface({ input: process.stdin, output: hidden, terminal: true })
  // This comes last, because until the interface is open, the terminal itself shows what is typed.
  shown.write(`${question}: `)
  const answer = await new Promise<string | undefined>((resolve) => {
    reader.once('line', resolve)
    // Ctrl-C and Ctrl-D close the interface.
    reader.once('close', () => resolve(undefined))
  })
  reader.close()
  shown.write('\n')
  return answer
}
