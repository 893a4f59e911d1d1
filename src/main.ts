import { createApp } from './app.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { openDeps, openLog } from './deps.ts'
import { isEmpty, seedDemo } from './seed.ts'
import { drainServer, shutdownLimitMilliseconds, untilEnd } from './shutdown.ts'
import { supervise, workerVariable } from './supervisor.ts'
import { welcome } from './welcome.ts'
import { tellSupervisor } from './worker-counts.ts'

/** What the server itself refuses, without reading it; every route has a lower limit of its own. */
const mostRequestBytes = 1024 ** 3

/** Serves until it is asked to end, and ends after the requests in flight, within 20 seconds. */
async function serve(config: Config): Promise<void> {
  const worker = process.env[workerVariable]
  const ending = untilEnd(worker !== undefined)
  ending.then(() => setTimeout(() => process.exit(0), shutdownLimitMilliseconds).unref())
  const { deps, sandbox, close } = await openDeps(config)
  if (worker !== undefined) deps.metrics.joinWorkers()
  const isFirstWorker = (worker ?? '0') === '0'
  const demo = isFirstWorker && !config.mongodbUrl && (await isEmpty(deps)) ? await seedDemo(deps) : null
  const drain = new AbortController()
  const app = createApp(deps, sandbox, drain.signal)
  try {
    app.listen({
      hostname: config.host,
      port: config.port,
      reusePort: config.workers > 1,
      maxRequestBodySize: mostRequestBytes,
    })
  } catch (error) {
    console.error(`Cannot listen on ${config.host}:${config.port}: ${(error as Error).message}`)
    await close()
    process.exit(1)
  }
  const address = `http://${config.host}:${app.server?.port}`
  deps.log.info({ address }, 'Listening')
  if (isFirstWorker) process.stdout.write(welcome(address, demo))
  tellSupervisor('listening')

  const end = await ending
  drain.abort()
  if (app.server) await drainServer(app.server, end)
  await deps.metrics.leaveWorkers()
  await close()
  process.exit(0)
}

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
  const isSupervisor = config.workers > 1 && process.env[workerVariable] === undefined
  if (isSupervisor) process.exit(await supervise(config.workers, openLog(config)))
  await serve(config)
} catch (error) {
  fail(error)
}
