import pino, { type Logger, type LoggerOptions } from 'pino'

/** Fields that are never logged, because they may contain secrets. */
const redaction = {
  paths: ['*.password', '*.provider_api_key', '*.headers', '*.authorization', '*["x-api-key"]', '*.body'],
  remove: true,
}

/** Maximum length of lines that wait to be written. Further lines are dropped. */
const maxWaiting = 2 ** 20

/** Time that a line waits for others that are written with it. */
const flushMilliseconds = 1000

/**
 * Opens the log on standard error. Lines are written in batches, with a delay of at most one second. While standard
 * error cannot be written, for example because its disk is full, the service keeps running, and up to 1 MiB of lines
 * wait.
 */
export function openLog(level: string): Logger {
  const destination = pino.destination({ dest: 2, sync: true, minLength: 4096, maxLength: maxWaiting })
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    destination.flush()
  }
  // The library's own timer would also wake a process that logs nothing.
  const flushLater = () => {
    if (timer) return
    timer = setTimeout(flush, flushMilliseconds)
    timer.unref()
  }
  // Without a listener, a failed write ends the process. The lines are written again later.
  destination.on('error', flushLater)
  // `end` gives up if the lines cannot be written; `flushSync` would try forever, and the process would never exit.
  process.on('exit', () => destination.end())
  const write = (line: string) => {
    flushLater()
    destination.write(line)
  }
  return pino(logOptions(level), { write })
}

/**
 * Returns the options of every log. An error is logged as `err`, or as text as `error`, and in both forms without stored
 * or sent values. Otherwise, guests' data would end up in the log, because the database's errors carry whole documents.
 */
export function logOptions(level: string): LoggerOptions {
  return { level, redact: redaction, serializers: { err: describeThrown, error: hideValues } }
}

const maxCauses = 3

/** Returns the parts of an error that never contain a document. */
function describeThrown(thrown: unknown, depth = 0): Record<string, unknown> {
  if (!(thrown instanceof Error)) return { type: typeof thrown }
  const { name, stack = '', cause } = thrown
  const { code } = thrown as { code?: unknown }
  const isCode = typeof code === 'number' || typeof code === 'string'
  const message = hideValues(thrown.message)
  // The stack begins with the message.
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  return {
    type: name,
    message,
    stack: [`${name}: ${message}`, ...frames].join('\n'),
    ...(isCode ? { code } : {}),
    ...(cause === undefined || depth >= maxCauses ? {} : { cause: describeThrown(cause, depth + 1) }),
  }
}

/** Removes the values that the database and its driver quote in messages about a unique index or a failed cast. */
export function hideValues(text: unknown): string {
  return String(text)
    .replace(/dup key: [\s\S]*/, 'dup key: …')
    .replace(/\b(value) (["'`])[\s\S]*\2/, '$1 …')
}
