import { BlockList, isIP } from 'node:net'
import { resolve } from 'node:path'
import currencyCodes from 'currency-codes'
import { parseRedisUrl } from './platform/redis/address.ts'

/** The settings of decisions §14, checked. Durations and sizes carry their unit in the name. */
export interface Config {
  production: boolean
  host: string
  port: number
  publicUrl: string
  /** Address of a listing's preview page with `{id}` in place of the id. */
  previewUrl: string
  mongodbUrl: string | undefined
  redisUrl: string | undefined
  dataDir: string
  secretKey: string | undefined
  /** The next and the previous secret, while it is being rotated. */
  secretKeyNext: string | undefined
  secretKeyPrevious: string | undefined
  messageDedupSeconds: number
  logLevel: string
  /** Processes that share one port. */
  workers: number
  trustedProxies: BlockList
  requestIds: boolean
  maxBodyBytes: number
  maxBulkBodyBytes: number
  rateLimitPerMinute: number
  authFailuresPerMinute: number
  idempotencyTtlSeconds: number
  defaultCurrency: string
  /** Requests that a process holds until something changes. */
  maxHeldRequests: number
  tagManagerUrl: string | undefined
  metricsToken: string | undefined
}

/** Settings that cannot be used; `problems` has one line per wrong setting. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(readonly problems: string[]) {
    super(problems.join('\n'))
  }
}

/** Requests per minute that a key may be given. */
export const rateLimitBounds = { minimum: 1, maximum: 1_000_000 } as const

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const mebibyte = 1024 * 1024

type Environment = Record<string, string | undefined>

/** Settings that production requires. */
const requiredInProduction = ['MONGODB_URL', 'REDIS_URL', 'SECRET_KEY']

/**
 * Reads the environment once.
 *
 * @param required names that production requires
 * @throws ConfigError with every wrong setting, not only the first; never with the value of a secret
 */
export function readConfig(environment: Environment, required = requiredInProduction): Config {
  const problems: string[] = []
  const read = reader(environment, problems)
  const production = environment.NODE_ENV === 'production'
  const host = read.text('HOST', '127.0.0.1')
  const port = read.integer('PORT', 3000, 0, 65_535)
  const publicUrl = (read.url('PUBLIC_URL', ['http:', 'https:']) ?? `http://${host}:${port}`).replace(
    /\/+$/,
    '',
  )
  const config: Config = {
    production,
    host,
    port,
    publicUrl,
    previewUrl: read.text('PREVIEW_URL', `${publicUrl}/preview/listings/{id}`),
    mongodbUrl: read.store('MONGODB', ['mongodb:', 'mongodb+srv:']),
    redisUrl: read.store(
      'REDIS',
      ['redis:', 'rediss:', 'redis+sentinel:', 'rediss+sentinel:'],
      parseRedisUrl,
    ),
    dataDir: resolve(read.text('DATA_DIR', './data')),
    secretKey: read.secret('SECRET_KEY', 32),
    secretKeyNext: read.secret('SECRET_KEY_NEXT', 32),
    secretKeyPrevious: read.secret('SECRET_KEY_PREVIOUS', 32),
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
    defaultCurrency: read.currency('DEFAULT_CURRENCY', 'EUR'),
    tagManagerUrl: read.url('TAG_MANAGER_URL', ['http:', 'https:']),
    metricsToken: read.secret('METRICS_TOKEN', 16),
  }
  if (production) {
    for (const name of required) {
      if (!environment[name]) problems.push(`${name} is required when NODE_ENV is "production"`)
    }
  }
  if (!config.previewUrl.includes('{id}')) problems.push('PREVIEW_URL must contain "{id}"')
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** A password put into an address; null where there is no place for one. An account of Redis may have no name. */
function withPassword(url: string, password: string): string | null {
  const {
    scheme = '',
    user,
    rest,
  } = /^(?<scheme>[a-z+]+:\/\/)(?:(?<user>[^:@/]*)@)?(?<rest>[^@]+)$/.exec(url)?.groups ?? {}
  if (rest === undefined || (!user && scheme.startsWith('mongodb'))) return null
  return `${scheme}${user ?? ''}:${encodeURIComponent(password)}@${rest}`
}

function reader(environment: Environment, problems: string[]) {
  const raw = (name: string) => environment[name]?.trim() || undefined
  return {
    text: (name: string, fallback: string) => raw(name) ?? fallback,

    integer(name: string, fallback: number, minimum: number, maximum: number): number {
      const value = raw(name)
      if (value === undefined) return fallback
      const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
      if (number >= minimum && number <= maximum) return number
      problems.push(`${name} must be an integer from ${minimum} to ${maximum}`)
      return fallback
    },

    oneOf(name: string, values: string[], fallback: string): string {
      const value = raw(name) ?? fallback
      if (values.includes(value)) return value
      problems.push(`${name} must be one of ${values.join(', ')}`)
      return fallback
    },

    url(name: string, protocols: string[]): string | undefined {
      const value = raw(name)
      const protocol = value && /^[a-z+]+:(?=\/\/.)/.exec(value)?.[0]
      if (value && !(protocol && protocols.includes(protocol))) {
        problems.push(
          `${name} must be an address that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`,
        )
      }
      return value
    },

    /** The address of a store, with the password that may be given apart from it, in any characters. */
    store(store: 'MONGODB' | 'REDIS', protocols: string[], parse: (url: string) => unknown = () => {}) {
      const [name, passwordName] = [`${store}_URL`, `${store}_PASSWORD`]
      const [url, password] = [this.url(name, protocols), environment[passwordName]]
      if (!url || problems.some((problem) => problem.startsWith(name))) return url
      const whole = password ? withPassword(url, password) : url
      if (whole === null) problems.push(`${passwordName} needs a user name, and no password, in ${name}`)
      try {
        parse(whole ?? url)
      } catch (error) {
        problems.push(`${name} ${(error as Error).message}`)
      }
      return whole ?? url
    },

    secret(name: string, minimumLength: number): string | undefined {
      const value = raw(name)
      if (value && value.length < minimumLength) {
        problems.push(`${name} must have at least ${minimumLength} characters`)
      }
      return value
    },

    currency(name: string, fallback: string): string {
      const value = (raw(name) ?? fallback).toUpperCase()
      if (!currencyCodes.code(value)) problems.push(`${name} must be an ISO currency code`)
      return value
    },

    networks(name: string): BlockList {
      const list = new BlockList()
      for (const network of raw(name)?.split(/[\s,]+/) ?? []) {
        const [address = '', prefix] = network.split('/')
        const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
        try {
          if (prefix !== undefined && !/^\d{1,3}$/.test(prefix)) throw new Error('Not a prefix length')
          if (prefix === undefined) list.addAddress(address, family)
          else list.addSubnet(address, Number(prefix), family)
        } catch {
          problems.push(`${name} must be a list of IP addresses or networks; "${network}" is neither`)
        }
      }
      return list
    },
  }
}
