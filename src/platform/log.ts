import pino, { type Logger } from 'pino'

/** Fields that are never logged, because they may contain secrets. */
const redaction = {
  paths: ['*.password', '*.provider_api_key', '*.headers', '*.authorization', '*["x-api-key"]', '*.body'],
  remove: true,
}

/** Opens the log on standard error. Lines are written in batches, with a delay of at most one second. */
export function openLog(level: string): Logger {
  const destination = pino.destination({ dest: 2, sync: true, minLength: 4096, periodicFlush: 1000 })
  process.on('exit', () => destination.flushSync())
  return pino({ level, redact: redaction }, destination)
}
