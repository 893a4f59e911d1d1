import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Only 2000::/3 is given to the internet at all. */
const internet6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** Of it, documentation has this too. */
const documentation6 = ipaddr.IPv6.parseCIDR('3fff::/20')

/** True for an address that a server on the internet can have (decisions §21). */
export function isPublicAddress(address: string): boolean {
  // With a zone it is of this machine's own network.
  if (isIP(address) === 0 || address.includes('%')) return false
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.range() === 'unicast'
  const own = parsed as ipaddr.IPv6
  if (own.range() === 'rfc6052') return isPublicBytes(own.toByteArray().slice(12))
  if (own.range() === '6to4') return isPublicBytes(own.toByteArray().slice(2, 6))
  return own.range() === 'unicast' && own.match(internet6) && !own.match(documentation6)
}

/** For an IPv4 address inside one of IPv6: translated (NAT64) or tunnelled. */
function isPublicBytes(bytes: number[]): boolean {
  return ipaddr.fromByteArray(bytes).range() === 'unicast'
}

/** The IP address that the host of an address is, in whatever notation, or null for a name. */
export function literalAddress({ hostname }: URL): string | null {
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return isIPv4(hostname) ? hostname : null
}

/** True for a host that names this machine or a private address, which needs no look-up to be refused. */
export function isPrivateHost(url: URL): boolean {
  const literal = literalAddress(url)
  if (literal !== null) return !isPublicAddress(literal)
  const name = url.hostname.toLowerCase().replace(/\.+$/, '')
  return name === 'localhost' || name.endsWith('.localhost')
}
