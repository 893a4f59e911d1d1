import { type BlockList, isIP } from 'node:net'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseRedisUrl } from './redis-address.ts'
import { type Environment, settingsReader } from './settings-reader.ts'

/** The validated settings (decisions §14). The name of each duration or size includes its unit. */
export interface Config {
  production: boolean
  host: string
  port: number
  publicUrl: string
  /** Paths of the certificate and its private key if the service serves HTTPS itself; null for HTTP. */
  tls: { cert: string; key: string } | null
  /** Address of a listing's preview page, with `{id}` as a placeholder for the id. */
  previewUrl: string
  mongodbUrl: string | undefined
  redisUrl: string | undefined
  /** Directory of the embedded database; by default, `data` in the project's folder, whatever the working directory. */
  dataDir: string
  secretKey: string | undefined
  /** The previous or next secrets during a rotation. */
  otherSecretKeys: string[]
  messageDedupSeconds: number
  logLevel: string
  /** Number of processes that share the port. */
  workers: number
  trustedProxies: BlockList
  requestIds: boolean
  maxBodyBytes: number
  maxBulkBodyBytes: number
  rateLimitPerMinute: number
  authFailuresPerMinute: number
  idempotencyTtlSeconds: number
  defaultCurrency: string
  /** Maximum number of requests that a process may hold until something changes or a fault's delay ends. */
  maxHeldRequests: number
  /** Allows webhooks at private addresses and without TLS, for development. */
  webhooksAllowPrivate: boolean
  tagManagerUrl: string | undefined
  metricsToken: string | undefined
  /** The commit that this build was made from, for metrics. */
  buildCommit: string
  /** Contact URI for vulnerability reports. */
  securityContact: string | undefined
  tracing: TracingSettings | undefined
}

/** The collector that receives spans, and the share of requests that are traced (decisions §28). */
export interface TracingSettings {
  url: string
  headers: Record<string, string>
  attributes: Record<string, string>
  sampleRatio: number
}

/** Error thrown for invalid settings; `problems` has one line per invalid setting. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(readonly problems: string[]) {
    super(problems.join('\n'))
  }
}

/** Bounds of a key's rate limit, in requests per minute. */
export const rateLimitBounds = { minimum: 1, maximum: 1_000_000 } as const

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const mebibyte = 1024 * 1024

const requiredInProduction = ['MONGODB_URL', 'REDIS_URL', 'SECRET_KEY']

/**
 * Reads and validates the settings from the environment and from the files that it names.
 *
 * @param required names of the settings that production requires
 * @throws ConfigError, which lists all invalid settings, not only the first, and never contains a secret's value
 */
export function readConfig(environment: Environment, required = requiredInProduction): Config {
  const problems: string[] = []
  const read = settingsReader(environment, problems)
  const production = environment.NODE_ENV === 'production'
  const host = read.text('HOST', '127.0.0.1')
  const port = read.integer('PORT', 3000, 0, 65_535)
  const cert = read.text('TLS_CERT_FILE', '')
  const key = read.text('TLS_KEY_FILE', '')
  if (!cert !== !key) problems.push('TLS_CERT_FILE and TLS_KEY_FILE must be set together')
  const ownUrl = serviceUrl({ tls: cert ? { cert, key } : null, host, port })
  const publicUrl = (read.url('PUBLIC_URL', ['http:', 'https:']) ?? ownUrl).replace(/\/+$/, '')
  const config: Config = {
    production,
    host,
    port,
    publicUrl,
    tls: cert && key ? { cert, key } : null,
    previewUrl: read.text('PREVIEW_URL', `${publicUrl}/preview/listings/{id}`),
    mongodbUrl: read.store('MONGODB', ['mongodb:', 'mongodb+srv:']),
    redisUrl: read.store(
      'REDIS',
      ['redis:', 'rediss:', 'redis+sentinel:', 'rediss+sentinel:'],
      parseRedisUrl,
    ),
    dataDir: resolve(read.text('DATA_DIR', fileURLToPath(new URL('../../data', import.meta.url)))),
    secretKey: read.commaFreeSecret('SECRET_KEY', 32),
    otherSecretKeys: read.secrets('OTHER_SECRET_KEYS', 32),
    messageDedupSeconds: read.integer('MESSAGE_DEDUP_SECONDS', 60, 0, 86_400),
    logLevel: read.oneOf('LOG_LEVEL', logLevels, 'info'),
    workers: read.integer('WORKERS', 1, 1, 256),
    trustedProxies: read.networks('TRUSTED_PROXIES'),
    requestIds: read.oneOf('REQUEST_IDS', ['on', 'off'], 'on') === 'on',
    maxBodyBytes: read.integer('MAX_BODY_BYTES', mebibyte, 1024, 64 * mebibyte),
    maxBulkBodyBytes: 10 * mebibyte,
    rateLimitPerMinute: read.integer(
      'RATE_LIMIT_PER_MINUTE',
      60,
      rateLimitBounds.minimum,
      rateLimitBounds.maximum,
    ),
    authFailuresPerMinute: read.integer('AUTH_FAILURES_PER_MINUTE', 120, 1, 1_000_000),
    idempotencyTtlSeconds: read.integer('IDEMPOTENCY_TTL_SECONDS', 86_400, 1, 31_536_000),
    maxHeldRequests: read.integer('MAX_HELD_REQUESTS', 10_000, 0, 1_000_000),
    webhooksAllowPrivate: read.oneOf('WEBHOOKS_ALLOW_PRIVATE', ['on', 'off'], 'off') === 'on',
    defaultCurrency: read.currency('DEFAULT_CURRENCY', 'EUR'),
    tagManagerUrl: read.url('TAG_MANAGER_URL', ['http:', 'https:']),
    metricsToken: read.secret('METRICS_TOKEN', 16),
    buildCommit: read.text('BUILD_COMMIT', 'unknown'),
    securityContact: read.contact('SECURITY_CONTACT'),
    tracing: readTracing(read),
  }
  if (production) {
    for (const name of required) {
      if (!read.isSet(name)) problems.push(`${name} is required when NODE_ENV is "production"`)
    }
  }
  if (production && config.webhooksAllowPrivate)
    problems.push('WEBHOOKS_ALLOW_PRIVATE must be off when NODE_ENV is "production"')
  if (!config.previewUrl.includes('{id}')) problems.push('PREVIEW_URL must contain "{id}"')
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** Hosts that stand for all addresses of the machine, and an address at which a client reaches such a service. */
const anyAddress: Record<string, string> = { '::': '::1', '0.0.0.0': '127.0.0.1' }

/**
 * Returns the address at which a client on this machine reaches the service. An IPv6 address is in brackets, and a zone
 * is left out, because a URL cannot have one (decisions §28).
 */
export function serviceUrl({ tls, host, port }: Pick<Config, 'tls' | 'host' | 'port'>): string {
  const bare = host.replace(/^\[|\]$/g, '').replace(/%.*/, '')
  const reached = anyAddress[bare] ?? bare
  return `${tls ? 'https' : 'http'}://${isIP(reached) === 6 ? `[${reached}]` : reached}:${port}`
}

/**
 * Reads OpenTelemetry's standard settings; returns undefined if tracing is off. Appends `/v1/traces` to a collector's
 * base address. A standard value that the service does not support is reported as a problem; otherwise, traces could be
 * sent to an unexpected place.
 */
function readTracing(read: ReturnType<typeof settingsReader>): TracingSettings | undefined {
  const base = read.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:'])
  const own = read.url('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ['http:', 'https:'])
  const headers = read.pairs('OTEL_EXPORTER_OTLP_HEADERS')
  const name = read.text('OTEL_SERVICE_NAME', 'partner-interface')
  const attributes = { ...read.pairs('OTEL_RESOURCE_ATTRIBUTES'), 'service.name': name }
  const sampleRatio = read.share('OTEL_TRACES_SAMPLER_ARG', '1')
  read.oneOf('OTEL_EXPORTER_OTLP_PROTOCOL', ['http/protobuf'], 'http/protobuf')
  read.oneOf('OTEL_TRACES_SAMPLER', ['parentbased_traceidratio'], 'parentbased_traceidratio')
  const isDisabled = read.oneOf('OTEL_SDK_DISABLED', ['true', 'false'], 'false') === 'true'
  if (read.oneOf('OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'otlp') === 'none' || isDisabled) return undefined
  if (own !== undefined) return { url: own, headers, attributes, sampleRatio }
  if (base === undefined) return undefined
  return { url: `${base.replace(/\/+$/, '')}/v1/traces`, headers, attributes, sampleRatio }
}

/**
 * Returns the settings in a form that is safe to log. Addresses of stores, the tag manager and the collector are
 * reduced to their servers. A secret is replaced with a flag that says whether it is set, and a list of secrets with
 * its length. The TLS paths are omitted, because a path may be a secret that was set under the wrong name.
 */
export function describeConfig(config: Config): Record<string, unknown> {
  const { secretKey, otherSecretKeys, metricsToken, mongodbUrl, redisUrl, tagManagerUrl, ...plain } = config
  const { trustedProxies, tls, tracing, ...settings } = plain
  return {
    ...settings,
    hasTls: tls !== null,
    trustedProxies: trustedProxies.rules,
    mongodb: mongodbUrl ? serversOf(mongodbUrl) : 'embedded server',
    redis: redisUrl ? serversOf(redisUrl) : null,
    tagManager: tagManagerUrl ? serversOf(tagManagerUrl) : null,
    hasSecretKey: secretKey !== undefined,
    otherSecretKeys: otherSecretKeys.length,
    hasMetricsToken: metricsToken !== undefined,
    collector: tracing ? serversOf(tracing.url) : null,
  }
}

/**
 * Returns the servers that a connection string names, without any part that may be secret. The servers start after the
 * last `@`, because a password that was not percent-encoded may contain any character.
 */
export function serversOf(url: string): string {
  return /^[a-z+]+:\/\/(?:.*@)?([^/?#]+)/s.exec(url)?.[1] ?? 'an unknown address'
}
