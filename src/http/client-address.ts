import { type BlockList, isIP } from 'node:net'

/** IPv4-mapped IPv6 as plain IPv4, so that one client has one address. */
function normalize(address: string): string {
  return address.trim().replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, '')
}

/**
 * The address of the client: the socket's or, when the socket belongs to a trusted proxy, the rightmost
 * entry of `X-Forwarded-For` that is not a trusted proxy itself (decisions §3).
 */
export function clientAddress(socketAddress: string, headers: Headers, trusted: BlockList): string {
  const isTrusted = (address: string) => {
    const version = isIP(address)
    return version !== 0 && trusted.check(address, version === 6 ? 'ipv6' : 'ipv4')
  }
  let client = normalize(socketAddress)
  const hops = headers.get('x-forwarded-for')?.split(',').map(normalize) ?? []
  while (isTrusted(client)) {
    const hop = hops.pop()
    if (hop === undefined || isIP(hop) === 0) break
    client = hop
  }
  return client
}

/** The network of one client: an IPv4 address, or the /64 network of an IPv6 address, which one client owns as a whole. */
export function clientNetwork(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail = ''] = (address.split('%')[0] as string).split('::')
  const groups = head.split(':').filter(Boolean)
  const rest = tail.split(':').filter(Boolean)
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - rest.length) }, () => '0')
  const all = address.includes('::') ? [...groups, ...zeros, ...rest] : groups
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
