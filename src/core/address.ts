import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Parses an IP address, without a port. An IPv4-mapped IPv6 address becomes the IPv4 address, in whichever spelling it
 * is written, and an IPv6 zone is dropped. Without this, one client would have several addresses, and all clients whose
 * address is written as `::ffff:cb00:7108` would share an IPv6 network, and therefore its limits.
 *
 * @returns the address, whose `toString()` is its canonical form; null for anything else
 */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  return isIP(text) === 0 ? null : ipaddr.process(text.replace(/%.*/, ''))
}
