import packageJson from '../package.json' with { type: 'json' }
import { createApp } from './app.ts'
import { type Config, describeConfig, serviceUrl } from './core/config.ts'
import { greet, isEmpty, seedDemo } from './operations/demo.ts'
import { storeOwnRelease } from './pages/downloads/releases.ts'
import { expiryOf, type KeyPair, tlsOptionsOf } from './process/certificate.ts'
import { failToListen, requireFreePort } from './process/port.ts'
import { drainServer, shutdownLimitMilliseconds, whenAskedToStop } from './process/shutdown.ts'
import { workerVariable } from './process/supervisor.ts'
import { compose } from './process/wiring.ts'
import { notifySupervisor } from './process/worker-metrics.ts'

/**
 * The HTTP server's own limit on `Content-Length`; every route has a lower limit. Beyond it, the server itself responds
 * with 413, without an envelope.
 */
const maxRequestBytes = 4 * 1024 ** 3

/**
 * Seconds that an idle connection stays open. Proxies must drop idle connections first, because a request sent on a
 * closing connection is lost (decisions §1).
 */
const idleSeconds = 120

/** Serves requests until the process is told to stop, then finishes the requests in progress within 20 seconds. */
export async function serve(config: Config): Promise<void> {
  const worker = process.env[workerVariable]
  // This comes before anything is opened, so that the user reads only that a service is already running.
  if (worker === undefined) await requireFreePort(config)
  const ending = whenAskedToStop(worker !== undefined)
  void ending.then(() => setTimeout(() => process.exit(0), shutdownLimitMilliseconds).unref())
  const context = await compose(config)
  const { live, metrics } = context
  if (worker !== undefined) metrics.joinWorkers()
  const tls: KeyPair | null = config.tls && (await Bun.stdin.json())
  if (tls) metrics.showCertificateExpiry(expiryOf(tls))
  const isFirstWorker = (worker ?? '0') === '0'
  const demo = isFirstWorker && !config.mongodbUrl && (await isEmpty(live)) ? await seedDemo(live) : null
  const drain = new AbortController()
  const app = createApp(context, drain.signal)
  releaseStartMemory()
  try {
    app.listen({
      hostname: config.host,
      port: config.port,
      reusePort: worker !== undefined,
      ...(tls ? { tls: tlsOptionsOf(tls) } : {}),
      maxRequestBodySize: maxRequestBytes,
      idleTimeout: idleSeconds,
    })
  } catch (error) {
    await context.close()
    failToListen(config, error)
  }
  if (!config.redisUrl)
    live.log.warn('REDIS_URL is not set: rate limits are counted per process and not shared')
  const servers = await context.versions()
  const address = serviceUrl({ ...config, port: app.server?.port ?? config.port })
  live.log.info(
    {
      address,
      version: packageJson.version,
      settings: describeConfig(config),
      servers,
    },
    'Listening',
  )
  if (isFirstWorker) await greet(live, address, demo)
  if (isFirstWorker) void storeOwnRelease(live)
  notifySupervisor('listening')

  const end = await ending
  live.log.info({ reason: end, uptime_s: Math.round(process.uptime()) }, 'Shutting down')
  drain.abort(end)
  context.flushTraces()
  if (app.server) await drainServer(app.server, end)
  await metrics.leaveWorkers()
  await context.close()
  process.exit(0)
}

/**
 * Returns the memory that only the start needed, most of it translated code of functions that do not run again. The
 * runtime would keep it. It is done before the first request, because it takes a tenth of a second.
 */
function releaseStartMemory(): void {
  Bun.shrink()
  Bun.gc(true)
}
