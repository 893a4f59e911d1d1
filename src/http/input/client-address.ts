import { type BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { parseAddress } from '../../core/address.ts'
import { DomainError } from '../../core/errors.ts'

/** Placeholder for a client whose `X-Forwarded-For` entry is not an IP address. No network contains the placeholder. */
const unknownAddress = 'unknown'

/** Returns an address in its canonical form, without any port; null for anything else. */
function canonicalAddress(address: string): string | null {
  const bare = address.trim().replace(/^\[(.+)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2')
  return parseAddress(bare)?.toString() ?? null
}

/**
 * Returns the client's address: the socket's or, if the socket belongs to a trusted proxy, the rightmost entry of
 * `X-Forwarded-For` that is not itself a trusted proxy (decisions §3), in its canonical form. An entry that is not an IP
 * address becomes `unknown` rather than the proxy's address, because a key's networks may include the proxy.
 */
export function clientAddress(socketAddress: string, headers: Headers, trusted: BlockList): string {
  let client = canonicalAddress(socketAddress) ?? socketAddress
  const forwarded = headers.get('x-forwarded-for')
  // Whether the socket belongs to a proxy then makes no difference.
  if (forwarded === null) return client
  const hops = forwarded.split(',')
  while (isTrustedProxy(client, trusted)) {
    const hop = hops.pop()
    if (hop === undefined) break
    client = canonicalAddress(hop) ?? unknownAddress
  }
  return client
}

/** Returns true for the address of a trusted proxy. */
export function isTrustedProxy(address: string, trusted: BlockList): boolean {
  const parsed = parseAddress(address)
  return parsed !== null && trusted.check(parsed.toString(), parsed.kind())
}

/**
 * Returns a client's network: its IPv4 address, or the /64 of its IPv6 address, because a /64 belongs to one client.
 */
export function clientNetwork(address: string): string {
  const parsed = parseAddress(address)
  if (parsed === null) return address
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const groups = parsed.parts.slice(0, 4).map((group) => group.toString(16))
  return `${groups.join(':')}::/64`
}

/**
 * Converts a network in CIDR notation, or a single address, to the canonical form in which networks are stored. An
 * IPv4-mapped network becomes plain IPv4. Returns null for anything else, including a network with host bits set.
 */
export function parseNetwork(text: string): string | null {
  const [address = '', length, ...rest] = text.split('/')
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0) return null
  if (length !== undefined && !/^(0|[1-9]\d{0,2})$/.test(length)) return null
  const parsed = ipaddr.process(address)
  const bits = parsed.kind() === 'ipv4' ? 32 : 128
  const mappedBits = isIP(address) === 6 && bits === 32 ? 96 : 0
  const prefix = length === undefined ? bits : Number(length) - mappedBits
  if (prefix < 0 || prefix > bits) return null
  const network = `${parsed.toString()}/${prefix}`
  const first = (bits === 32 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(network)
  return first.toString() === parsed.toString() ? network : null
}

/**
 * Requires a client's address to be in one of the key's networks (decisions §28).
 *
 * @param networks networks as {@link parseNetwork} returns them; an empty list means that the key is accepted from
 * anywhere
 * @throws DomainError `forbidden`, naming the address, if no network contains the address
 */
export function requireNetwork(address: string, networks: readonly string[] = []): void {
  if (networks.length === 0) return
  const client = parseAddress(address)
  const isInside = networks.some((network) => {
    const [range, bits] = ipaddr.parseCIDR(network)
    return range.kind() === client?.kind() && client.match(range, bits)
  })
  if (isInside) return
  throw new DomainError('forbidden', 'The API key is not accepted from this address', [
    { path: 'client_address', code: 'forbidden', message: address },
  ])
}
