import stringWidth from 'fast-string-width'
import { wrapAnsi } from 'fast-wrap-ansi'
import { styled } from '../../shared/colours.ts'

/**
 * Styles the guide's Markdown for a terminal: headings, lists, tables, code, and emphasis. Anything else is shown as it
 * is written, which is still readable.
 */
export function markdownForTerminal(markdown: string, columns: number): string {
  const blocks: string[] = []
  let isCode = false
  let table: string[][] = []
  const endTable = () => {
    if (table.length > 0) blocks.push(drawTable(table, columns))
    table = []
  }
  for (const line of markdown.trimEnd().split('\n')) {
    if (!isCode && /^\|.*\|$/.test(line)) {
      if (!/^\|[ :|-]+\|$/.test(line)) table.push(cellsOf(line))
      continue
    }
    endTable()
    if (/^\s*```/.test(line)) isCode = !isCode
    else if (isCode) blocks.push(`  ${styled('cyan', line)}`)
    else blocks.push(drawLine(line, columns))
  }
  endTable()
  return blocks.join('\n')
}

function drawLine(line: string, columns: number): string {
  const heading = /^(#{1,6}) (.*)$/.exec(line)
  if (heading) return styled('bold', styled('underline', plainInline(heading[2] ?? '')))
  const [, indent = '', mark = '', text = line] = /^(\s*)([-*] |\d+\. |> )?(.*)$/.exec(line) ?? []
  const bullet = indent + mark.replace(/^[-*] /, '• ')
  const wrapped = wrapAnsi(inline(text), columns - bullet.length)
  return bullet + wrapped.replaceAll('\n', `\n${' '.repeat(bullet.length)}`)
}

/** Styles code, strong text, emphasis and links within a line. */
function inline(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part) => (/^`.+`$/.test(part) ? styled('cyan', part.slice(1, -1)) : emphasize(part)))
    .join('')
}

function emphasize(text: string): string {
  return text
    .replace(/!?\[([^\]]*)\]\(([^)]*)\)/g, (_, label: string, address: string) => `${label} (${address})`)
    .replace(/\*\*(.+?)\*\*/g, (_, strong: string) => styled('bold', strong))
    .replace(/\*([^*\s][^*]*)\*/g, (_, soft: string) => styled('italic', soft))
}

const plainInline = (text: string) => text.replace(/[`*]/g, '')

function cellsOf(row: string): string[] {
  return row
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.replaceAll('\\|', '|').trim())
}

const gap = 2
const narrowest = 8

/** Draws a table whose widest columns shrink, and whose cells wrap, until it fits. */
function drawTable([head = [], ...rows]: string[][], columns: number): string {
  const cells = [
    head.map((cell) => styled('bold', plainInline(cell))),
    ...rows.map((row) => row.map((cell) => inline(cell))),
  ]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => stringWidth(row[column] ?? ''))))
  const room = columns - gap * (head.length - 1)
  while (widths.reduce((sum, width) => sum + width, 0) > room && Math.max(...widths) > narrowest)
    widths[widths.indexOf(Math.max(...widths))] = Math.max(...widths) - 1
  return cells.map((row) => drawRow(row, widths)).join('\n')
}

function drawRow(row: string[], widths: number[]): string {
  const parts = widths.map((width, column) => wrapAnsi(row[column] ?? '', width, { hard: true }).split('\n'))
  const height = Math.max(...parts.map((lines) => lines.length))
  const lines = Array.from({ length: height }, (_, line) =>
    parts
      .map((part, column) => {
        const text = part[line] ?? ''
        return text + ' '.repeat(Math.max(0, (widths[column] ?? 0) - stringWidth(text)))
      })
      .join(' '.repeat(gap))
      .trimEnd(),
  )
  return lines.join('\n')
}
