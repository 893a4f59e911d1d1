import { type BlockList, isIP } from 'node:net'

/** Converts an IPv4-mapped IPv6 address to plain IPv4, so that each client has a single address. */
function normalize(address: string): string {
  return address.trim().replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, '')
}

/**
 * Returns the client's address: the socket's or, if the socket belongs to a trusted proxy, the rightmost entry of
 * `X-Forwarded-For` that is not itself a trusted proxy (decisions §3).
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

/** Returns a client's network: the IPv4 address, or the IPv6 address's /64 network, which one client owns entirely. */
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
