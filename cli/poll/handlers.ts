import type { FeedItem } from '../../src/feed/schema.ts'

export type OutputFormat = 'table' | 'ndjson' | 'csv' | 'json' | undefined

/** Handles one change, which is complete only when it returns. */
export type Handler = (item: FeedItem) => Promise<void>

/** A handler, and what is written when the poll ends, even after a failure. */
export interface Output {
  handle: Handler
  end(): Promise<void>
}

const columns = [
  'booking_id',
  'listing_id',
  'room_type_id',
  'status',
  'checkin_at',
  'checkout_at',
  'version',
] as const satisfies (keyof FeedItem)[]

const widths: Record<(typeof columns)[number], number> = {
  booking_id: 12,
  listing_id: 12,
  room_type_id: 12,
  status: 10,
  checkin_at: 11,
  checkout_at: 11,
  version: 19,
}

/** Runs the command for each change, or prints it; with `json` one document lists what was handled. */
export function outputFor({ exec, output }: { exec?: string | undefined; output: OutputFormat }): Output {
  const isJson = output === 'json'
  if (isJson) return jsonPrinter(exec === undefined ? async () => {} : executor(exec, 'stderr'))
  return {
    handle: exec === undefined ? printer(output ?? 'table') : executor(exec, 'stdout'),
    end: async () => {},
  }
}

/** One JSON document: a list that stays open until the poll ends, however it ends. */
function jsonPrinter(first: Handler): Output {
  let isFirst = true
  return {
    async handle(item) {
      await first(item)
      await write(`${isFirst ? '[' : ','}${JSON.stringify(item)}`)
      isFirst = false
    },
    end: () => write(isFirst ? '[]' : ']'),
  }
}

function printer(format: 'table' | 'ndjson' | 'csv'): Handler {
  if (format === 'ndjson') return (item) => write(JSON.stringify(item))
  const line =
    format === 'csv'
      ? (item: Record<string, unknown>) => columns.map((column) => item[column]).join(',')
      : (item: Record<string, unknown>) =>
          columns
            .map((column) => String(item[column]).padEnd(widths[column]))
            .join(' ')
            .trimEnd()
  const heading = Object.fromEntries(
    columns.map((column) => [column, format === 'csv' ? column : column.toUpperCase()]),
  )
  let isFirst = true
  return async (item) => {
    if (isFirst) await write(line(heading))
    isFirst = false
    await write(line(item))
  }
}

/** Waits until the reader has taken the line: a change that was not delivered must not be checkpointed. */
function write(line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${line}\n`, (error) => (error ? reject(error) : resolve()))
  })
}

const attempts = 3
const firstPauseMilliseconds = 500

/** @param output where the command's own output goes */
function executor(command: string, output: 'stdout' | 'stderr'): Handler {
  return async (item) => {
    for (let attempt = 1; ; attempt += 1) {
      const code = await runOnce(command, item, output)
      if (code === 0) return
      if (attempt === attempts) {
        throw new Error(
          `The command failed ${attempts} times (exit code ${code}) at booking ${item.booking_id}, version ${item.version}`,
        )
      }
      await Bun.sleep(firstPauseMilliseconds * 2 ** (attempt - 1))
    }
  }
}

async function runOnce(command: string, item: FeedItem, output: 'stdout' | 'stderr'): Promise<number> {
  const child = Bun.spawn(['sh', '-c', command], {
    stdin: new Blob([`${JSON.stringify(item)}\n`]),
    stdout: output === 'stdout' ? 'inherit' : 2,
    stderr: 'inherit',
    env: {
      ...process.env,
      PARTNER_API_KEY: undefined,
      PARTNER_BOOKING_ID: String(item.booking_id),
      PARTNER_STATUS: item.status,
      PARTNER_VERSION: item.version,
    },
  })
  return child.exited
}
