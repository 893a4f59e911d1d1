import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The only IPv6 range allocated for global unicast. */
const internet6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** A range within 2000::/3 that is reserved for documentation. */
const documentation6 = ipaddr.IPv6.parseCIDR('3fff::/20')

/** Returns true for an address that a public server can have (decisions §21). */
export function isPublicAddress(address: string): boolean {
  // An address with a zone id is valid only on a network of this machine.
  if (isIP(address) === 0 || address.includes('%')) return false
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.range() === 'unicast'
  const own = parsed as ipaddr.IPv6
  if (own.range() === 'rfc6052') return isPublicBytes(own.toByteArray().slice(12))
  if (own.range() === '6to4') return isPublicBytes(own.toByteArray().slice(2, 6))
  return own.range() === 'unicast' && own.match(internet6) && !own.match(documentation6)
}

/** Checks an IPv4 address that is embedded in an IPv6 address for translation (NAT64) or tunnelling (6to4). */
function isPublicBytes(bytes: number[]): boolean {
  return ipaddr.fromByteArray(bytes).range() === 'unicast'
}

/** Returns the host of a URL if it is an IP address in any notation; null for a name. */
export function literalAddress({ hostname }: URL): string | null {
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return isIPv4(hostname) ? hostname : null
}

/**
 * Returns true if the host is this machine, a private address, or a single-label name such as `intranet`, which is
 * never public. Such a URL is refused without a lookup.
 */
export function isPrivateHost(url: URL): boolean {
  const literal = literalAddress(url)
  if (literal !== null) return !isPublicAddress(literal)
  const name = url.hostname.toLowerCase().replace(/\.+$/, '')
  return !name.includes('.') || name.endsWith('.localhost')
}
