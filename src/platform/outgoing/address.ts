import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The only IPv6 range allocated for global unicast. */
const internet6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** NAT64's well-known prefix, which carries an IPv4 address in its last four bytes (RFC 6052). */
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** Azure's metadata service. It responds only to machines in Azure, but its address lies in a public range. */
const azureMetadata = '168.63.129.16'

/** Returns true for an address that a public server can have (decisions §21). */
export function isPublicAddress(address: string): boolean {
  // An address with a zone id is valid only on a network of this machine.
  if (isIP(address) === 0 || address.includes('%')) return false
  // `process` also unwraps an IPv4 address that is mapped into IPv6.
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv4' ? isPublic4(parsed as ipaddr.IPv4) : isPublic6(parsed as ipaddr.IPv6)
}

function isPublic4(address: ipaddr.IPv4): boolean {
  // If this breaks: a hint is posted into a private network
  return address.range() === 'unicast' && address.toString() !== azureMetadata
}

/** An address that is translated (NAT64) or tunnelled (6to4) to IPv4 is as public as the IPv4 address in it. */
function isPublic6(address: ipaddr.IPv6): boolean {
  const bytes = address.toByteArray()
  if (address.match(nat64)) return isPublic4(new ipaddr.IPv4(bytes.slice(12)))
  if (address.range() === '6to4') return isPublic4(new ipaddr.IPv4(bytes.slice(2, 6)))
  return address.range() === 'unicast' && address.match(internet6)
}

/** Returns the host of a URL if it is an IP address in any notation; null for a name. */
export function literalAddress({ hostname }: URL): string | null {
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return isIPv4(hostname) ? hostname : null
}

/** Why no public server can have a URL's host. */
export type PrivateHost = 'private address' | 'own machine' | 'name without a dot'

/**
 * Returns why a URL's host is private without a lookup; null if only a lookup can tell. A single-label name such as
 * `intranet` is never public.
 */
export function privateHostOf(url: URL): PrivateHost | null {
  const literal = literalAddress(url)
  if (literal !== null) return isPublicAddress(literal) ? null : 'private address'
  const name = url.hostname.toLowerCase().replace(/\.+$/, '')
  if (name === 'localhost' || name.endsWith('.localhost')) return 'own machine'
  return name.includes('.') ? null : 'name without a dot'
}
