import { ConfigError, readConfig } from './core/config.ts'
import { openLog } from './platform/log.ts'
import { requireFreePort } from './process/port.ts'
import { Supervisor, workerVariable } from './process/supervisor.ts'

function fail(error: unknown): never {
  if (error instanceof ConfigError) {
    for (const problem of error.problems) console.error(problem)
    process.exit(2)
  }
  console.error(`Cannot start: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
}

try {
  const config = readConfig(process.env)
  // If the service terminates TLS itself, even a single worker is supervised, because a certificate renewal replaces
  // the worker.
  const isSupervisor =
    (config.workers > 1 || config.tls !== null) && process.env[workerVariable] === undefined
  if (isSupervisor) {
    const supervisor = new Supervisor(config, openLog(config.logLevel))
    await requireFreePort(config)
    process.exit(await supervisor.run())
  }
  // A supervisor does not load what serves requests.
  const { serve } = await import('./serve.ts')
  await serve(config)
} catch (error) {
  fail(error)
}
