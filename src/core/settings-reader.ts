import { readFileSync, statSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { isCurrencyCode } from './money.ts'

export type Environment = Record<string, string | undefined>

/** Settings whose value may instead be read from the file that `<NAME>_FILE` names (decisions §28). */
const fileSettings = [
  'SECRET_KEY',
  'OTHER_SECRET_KEYS',
  'METRICS_TOKEN',
  'MONGODB_URL',
  'MONGODB_PASSWORD',
  'REDIS_URL',
  'REDIS_PASSWORD',
  'OTEL_EXPORTER_OTLP_HEADERS',
]

/**
 * Inserts a password into an address. Returns null if the address already has a password, or if a MongoDB address has
 * no user name. A Redis address needs no user name.
 */
function withPassword(url: string, password: string): string | null {
  const {
    scheme = '',
    user,
    rest,
  } = /^(?<scheme>[a-z+]+:\/\/)(?:(?<user>[^:@/]*)@)?(?<rest>[^@]+)$/.exec(url)?.groups ?? {}
  if (rest === undefined || (!user && scheme.startsWith('mongodb'))) return null
  return `${scheme}${user ?? ''}:${encodeURIComponent(password)}@${rest}`
}

/**
 * Returns an object whose methods each read and validate one setting.
 *
 * @param problems receives one line per invalid setting; a line never contains a secret's value
 */
export function settingsReader(environment: Environment, problems: string[]) {
  const files = readFiles(environment, problems)
  const exact = (name: string) => files[name] ?? environment[name]
  const raw = (name: string) => exact(name)?.trim() || undefined
  return {
    /** Returns true if a setting has a value or its `<NAME>_FILE` is set, even if the file cannot be used. */
    isSet: (name: string) => raw(name) !== undefined || name in files,

    text: (name: string, fallback: string) => raw(name) ?? fallback,

    integer(name: string, fallback: number, minimum: number, maximum: number): number {
      const value = raw(name)
      if (value === undefined) return fallback
      const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
      if (number >= minimum && number <= maximum) return number
      problems.push(`${name} must be an integer from ${minimum} to ${maximum}`)
      return fallback
    },

    share(name: string, fallback: string): number {
      const value = raw(name) ?? fallback
      if (!/^(0?\.\d+|0|1(\.0+)?)$/.test(value)) problems.push(`${name} must be a number from 0 to 1`)
      return Number(value)
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

    /**
     * Reads a store's address and inserts the password if it is set separately. The password may contain any
     * characters.
     */
    store(store: 'MONGODB' | 'REDIS', protocols: string[], parse: (url: string) => unknown = () => {}) {
      const name = `${store}_URL`
      const passwordName = `${store}_PASSWORD`
      const url = this.url(name, protocols)
      const password = exact(passwordName)
      if (!url && password) problems.push(`${passwordName} must not be set without ${name}`)
      if (!url || problems.some((problem) => problem.startsWith(name))) return url
      const whole = password ? withPassword(url, password) : url
      if (whole === null)
        problems.push(`${passwordName} requires ${name} to contain a user name and no password`)
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

    /** Reads a secret that may later become part of a list (see {@link secrets}), so it must not contain a comma. */
    commaFreeSecret(name: string, minimumLength: number): string | undefined {
      const value = this.secret(name, minimumLength)
      if (value?.includes(',')) problems.push(`${name} must not contain a comma`)
      return value
    },

    /** Reads a comma-separated list of secrets. */
    secrets(name: string, minimumLength: number): string[] {
      const values = (raw(name)?.split(',') ?? []).map((value) => value.trim())
      if (values.some(({ length }) => length < minimumLength))
        problems.push(`${name} must be secrets of at least ${minimumLength} characters, separated by commas`)
      return values
    },

    /** Reads comma-separated `name=value` pairs with percent-encoded values. */
    pairs(name: string): Record<string, string> {
      const text = raw(name) ?? ''
      if (text && !/^[\w.-]+=[ -+\--~]*(,\s*[\w.-]+=[ -+\--~]*)*$/.test(text))
        problems.push(`${name} must be pairs like "name=value", separated by commas`)
      const query = text.replace(/[&+]/g, encodeURIComponent).replace(/,\s*/g, '&')
      return Object.fromEntries(new URLSearchParams(query))
    },

    /** Reads an e-mail address or an `https:`, `mailto:` or `tel:` URI, and returns it as a URI. */
    contact(name: string): string | undefined {
      const value = raw(name)
      if (value === undefined || /^(https:\/\/|mailto:|tel:)[\x21-\x7e]+$/.test(value)) return value
      if (!/^[\w.+-]+@[\w.-]+$/.test(value))
        problems.push(
          `${name} must be an e-mail address, or an address that starts with https://, mailto: or tel:`,
        )
      return `mailto:${value}`
    },

    currency(name: string, fallback: string): string {
      const value = (raw(name) ?? fallback).toUpperCase()
      if (!isCurrencyCode(value)) problems.push(`${name} must be an ISO currency code`)
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

/**
 * Reads the settings that are given as files, without their trailing newlines. A setting whose file cannot be used is
 * present but undefined.
 *
 * @param problems receives one line per unusable file. The line contains neither the file's content nor its path,
 * because a path may be a secret that was set under the wrong name
 */
function readFiles(environment: Environment, problems: string[]): Environment {
  const files: Environment = {}
  for (const name of fileSettings) {
    const path = environment[`${name}_FILE`]?.trim()
    if (!path) continue
    files[name] = undefined
    if (environment[name]) problems.push(`${name}_FILE and ${name} must not both be set`)
    else
      try {
        // A pipe would be empty for the second process that reads it.
        if (!statSync(path).isFile()) throw new Error('Not a file')
        const content = decodeText(readFileSync(path))?.replace(/\r?\n$/, '')
        if (content === undefined) problems.push(`${name}_FILE must be a file in UTF-8`)
        else if (content.trim()) files[name] = content
        else problems.push(`${name}_FILE must not be an empty file`)
      } catch {
        problems.push(`${name}_FILE must be the path of a readable file`)
      }
  }
  return files
}

/** Returns the text of a file without its byte order mark; undefined if it is not UTF-8. */
function decodeText(bytes: Uint8Array): string | undefined {
  // Text that PowerShell writes as UTF-16 without a mark would be valid UTF-8, with a zero in every other byte.
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
