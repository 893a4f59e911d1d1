import { csvCell, jsonText, printLine, visible } from '../../shared/output.ts'
import type { Item, PolledFeed } from './feeds.ts'

/** How changes are printed. */
export type OutputFormat = 'table' | 'ndjson' | 'csv'

/** Prints changes. A change has been written once the promise of `print` resolves. */
export interface Printer<T extends Item> {
  print(item: T): Promise<void>
  /** Completes the output when the poll ends, even after a failure. */
  end(): Promise<void>
}

/** Prints a JSON array, element by element. */
export class JsonPrinter<T extends Item> implements Printer<T> {
  private isFirst = true

  async print(item: T): Promise<void> {
    const opening = this.isFirst ? '[' : ','
    this.isFirst = false
    await printLine(opening + jsonText(item))
  }

  end(): Promise<void> {
    return printLine(this.isFirst ? '[]' : ']')
  }
}

/** Prints each change on a line of its own; a table and CSV begin with a heading. */
export class LinePrinter<T extends Item> implements Printer<T> {
  private isFirst = true

  constructor(
    private readonly feed: PolledFeed<T>,
    private readonly format: OutputFormat,
  ) {}

  async print(item: T): Promise<void> {
    if (this.format === 'ndjson') return printLine(jsonText(item))
    const names = this.feed.columns.map(([name]) => name)
    if (this.isFirst)
      await printLine(this.lineOf(names.map((name) => (this.format === 'csv' ? name : name.toUpperCase()))))
    this.isFirst = false
    await printLine(this.lineOf(names.map((name) => String(item[name]))))
  }

  async end(): Promise<void> {}

  private lineOf(cells: string[]): string {
    if (this.format === 'csv') return cells.map(csvCell).join(',')
    const padded = cells.map((cell, column) => visible(cell).padEnd(this.feed.columns[column]?.[1] ?? 0))
    return padded.join(' ').trimEnd()
  }
}
