import { createApp } from './app.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { openDeps } from './deps.ts'
import { isEmpty, seedDemo } from './seed.ts'
import { welcome } from './welcome.ts'

/** Starts the service and stops it on SIGTERM or SIGINT, after the requests in flight. */
async function main(config: Config): Promise<void> {
  const { deps, sandbox, close } = await openDeps(config)
  const app = createApp(deps, sandbox)
  const demo = !config.mongodbUrl && (await isEmpty(deps)) ? await seedDemo(deps) : null
  try {
    app.listen({ hostname: config.host, port: config.port, maxRequestBodySize: Number.MAX_SAFE_INTEGER })
  } catch (error) {
    console.error(`Cannot listen on ${config.host}:${config.port}: ${(error as Error).message}`)
    await close()
    process.exit(1)
  }
  const address = `http://${config.host}:${app.server?.port}`
  deps.log.info({ address }, 'Listening')
  process.stdout.write(welcome(address, demo))

  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    await app.server?.stop()
    await close()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
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
  await main(readConfig(process.env))
} catch (error) {
  fail(error)
}
