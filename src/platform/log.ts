import pino, { type Logger } from 'pino'

/** Fields that are never logged, because they may contain secrets. */
const redaction = {
  paths: ['*.password', '*.provider_api_key', '*.headers', '*.authorization', '*["x-api-key"]', '*.body'],
  remove: true,
}

/** Maximum length of lines that wait to be written. Further lines are dropped. */
const maxWaiting = 2 ** 20

/**
 * Opens the log on standard error. Lines are written in batches, with a delay of at most one second. While standard
 * error cannot be written, for example because its disk is full, the service runs on, and up to 1 MiB of lines wait.
 */
export function openLog(level: string): Logger {
  const destination = pino.destination({
    dest: 2,
    sync: true,
    minLength: 4096,
    periodicFlush: 1000,
    maxLength: maxWaiting,
  })
  // Without a listener, a failed write ends the process. The lines are written again with those that follow.
  destination.on('error', () => {})
  // `end` gives up if the lines cannot be written; `flushSync` would try for ever, and the process would never exit.
  process.on('exit', () => destination.end())
  return pino({ level, redact: redaction }, destination)
}
