import { BlockList, isIP } from 'node:net'
import currencyCodes from 'currency-codes'

export type Environment = Record<string, string | undefined>

/** Inserts a password into an address, or returns null if it has no place for one. Redis needs no user name. */
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
 * Returns methods that each read and check one setting.
 *
 * @param problems receives one line per invalid setting, which never contains a secret's value
 */
export function settingsReader(environment: Environment, problems: string[]) {
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

    /** Reads a store's address and inserts the separately set password, if any, which may contain any characters. */
    store(store: 'MONGODB' | 'REDIS', protocols: string[], parse: (url: string) => unknown = () => {}) {
      const [name, passwordName] = [`${store}_URL`, `${store}_PASSWORD`]
      const [url, password] = [this.url(name, protocols), environment[passwordName]]
      if (!url && password) problems.push(`${passwordName} needs ${name}`)
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

    /** Reads a secret that can later be listed among {@link secrets}, so it must not contain a comma. */
    listableSecret(name: string, minimumLength: number): string | undefined {
      const value = this.secret(name, minimumLength)
      if (value?.includes(',')) problems.push(`${name} must not contain a comma`)
      return value
    },

    /** Reads several secrets, separated by commas. */
    secrets(name: string, minimumLength: number): string[] {
      const values = (raw(name)?.split(',') ?? []).map((value) => value.trim())
      if (values.some(({ length }) => length < minimumLength))
        problems.push(`${name} must be secrets of at least ${minimumLength} characters, separated by commas`)
      return values
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
