import { command } from '../../shared/command.ts'
import { UsageError } from '../../shared/errors.ts'
import { print, show } from '../../shared/output.ts'
import { standardOutput } from '../../shared/streams.ts'
import { printList } from '../../shared/table.ts'
import { type Chapter, readChapters } from '../guide/chapters.ts'
import { markdownForTerminal } from '../guide/terminal.ts'

export const guide = command({
  examples: ['partnerctl guide', 'partnerctl guide safe-retries'],
  args: {
    name: { type: 'positional', required: false, description: 'Name of a chapter; without it, the list' },
  },
  run({ args }) {
    const chapters = readChapters()
    if (args.name === undefined) {
      const rows = chapters.map(({ name, title, summary }) => ({ name, title, summary }))
      return printList(args, rows, { NAME: 'name', CHAPTER: 'title' })
    }
    const chapter = chapters.find(({ name }) => name === args.name)
    if (!chapter)
      throw new UsageError(`There is no chapter "${args.name}"; run "partnerctl guide" for the list`)
    if (args.json) return print(args, chapter, String)
    show(forTerminal(chapter))
  },
})

/** Returns a chapter styled for the terminal, or its plain Markdown if standard output is not a terminal. */
function forTerminal({ markdown }: Chapter): string {
  const { columns } = standardOutput
  if (columns === undefined) return markdown.trimEnd()
  return markdownForTerminal(markdown, Math.min(columns, 100))
}
