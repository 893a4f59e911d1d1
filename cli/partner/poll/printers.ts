import { setTimeout } from 'node:timers/promises'
import { csvCell, jsonText, printLine, visible } from '../../shared/output.ts'
import type { Item, PolledFeed } from './feeds.ts'
import { runHandler } from './handler-process.ts'

export type OutputFormat = 'table' | 'ndjson' | 'csv' | 'json' | undefined

/** Handles one change. The change counts as handled only once the promise resolves. */
export type Handler<T extends Item> = (item: T) => Promise<void>

/** A change handler, and an `end` that completes the output when the poll ends, even after a failure. */
export interface Output<T extends Item> {
  handle: Handler<T>
  end(): Promise<void>
}

/**
 * Returns an output that runs the command for each change, or prints the change if there is no command. With `json`, a
 * single document lists the handled changes.
 */
export function outputFor<T extends Item>(
  feed: PolledFeed<T>,
  { exec, output }: { exec?: string | undefined; output: OutputFormat },
): Output<T> {
  const isJson = output === 'json'
  if (isJson) return jsonPrinter(exec === undefined ? async () => {} : executor(feed, exec, 'stderr'))
  return {
    handle: exec === undefined ? printer(feed, output ?? 'table') : executor(feed, exec, 'stdout'),
    end: async () => {},
  }
}

/** Prints a JSON array, element by element; `end` closes the array, even if the poll has failed. */
function jsonPrinter<T extends Item>(first: Handler<T>): Output<T> {
  let isFirst = true
  return {
    async handle(item) {
      await first(item)
      const opening = isFirst ? '[' : ','
      isFirst = false
      await printLine(opening + jsonText(item))
    },
    end: () => printLine(isFirst ? '[]' : ']'),
  }
}

function printer<T extends Item>({ columns }: PolledFeed<T>, format: 'table' | 'ndjson' | 'csv'): Handler<T> {
  if (format === 'ndjson') return (item) => printLine(jsonText(item))
  const names = columns.map(([name]) => name)
  const widths = columns.map(([, width]) => width)
  const csvLine = (cells: string[]) => cells.map(csvCell).join(',')
  const tableLine = (cells: string[]) =>
    cells
      .map((cell, column) => visible(cell).padEnd(widths[column] ?? 0))
      .join(' ')
      .trimEnd()
  const line = format === 'csv' ? csvLine : tableLine
  const heading = names.map((name) => (format === 'csv' ? name : name.toUpperCase()))
  let isFirst = true
  return async (item) => {
    if (isFirst) await printLine(line(heading))
    isFirst = false
    await printLine(line(names.map((name) => String(item[name]))))
  }
}

const attempts = 3
const firstPauseMilliseconds = 500

/** Exit codes of `sh` for a command that it found but could not run, and for one that it did not find. */
const cannotRun = [126, 127]

/** @param output the stream that receives the command's own output */
function executor<T extends Item>(
  feed: PolledFeed<T>,
  command: string,
  output: 'stdout' | 'stderr',
): Handler<T> {
  const { PARTNER_API_KEY: _, ...withoutKey } = process.env
  return async (item) => {
    const call = {
      command,
      input: `${JSON.stringify(item)}\n`,
      environment: { ...withoutKey, ...feed.environmentOf(item) },
      output,
    }
    for (let attempt = 1; ; attempt += 1) {
      const code = await runHandler(call)
      if (code === 0) return
      const what = `${feed.describe(item)}, version ${item.version}`
      if (cannotRun.includes(code))
        throw new Error(
          `The command cannot be run (exit code ${code}) at ${what}: it must exist and be executable`,
        )
      if (attempt === attempts) {
        throw new Error(`The command failed ${attempts} times (exit code ${code}) at ${what}`)
      }
      await setTimeout(firstPauseMilliseconds * 2 ** (attempt - 1))
    }
  }
}
