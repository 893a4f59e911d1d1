import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** What IANA's special-purpose registries list, and multicast: nothing of it is a partner's server on the internet. */
const special4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...[
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.31.196.0/24',
    '192.52.193.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
  ],
  ...['192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]
/** Only 2000::/3 is given to the internet at all. */
const special6 = ['2001::/23', '2001:db8::/32', '2620:4f:8000::/48', '3fff::/20']

function listOf(networks: string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  return list
}

const private4 = listOf(special4, 'ipv4')
const private6 = listOf(special6, 'ipv6')
const global6 = listOf(['2000::/3'], 'ipv6')

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  // The URL parser writes every spelling in one way, without a dotted part.
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const [head = '', tail] = plain.split('::')
  const numbers = (text = '') =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  const [before, after] = [numbers(head), numbers(tail)]
  return tail === undefined
    ? before
    : [...before, ...Array(8 - before.length - after.length).fill(0), ...after]
}

function embedded([high = 0, low = 0]: number[]): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/**
 * The IPv4 address that an IPv6 address stands for: mapped (`::ffff:0:0/96`), translated (NAT64, `64:ff9b::/96`) or
 * tunnelled (6to4, `2002::/16`); null for any other.
 */
function embeddedAddress(address: string): string | null {
  const groups = groupsOf(address)
  const prefix = groups.slice(0, 6).join(':')
  if (prefix === '0:0:0:0:0:65535' || prefix === `${0x64}:${0xff9b}:0:0:0:0`) return embedded(groups.slice(6))
  return groups[0] === 0x2002 ? embedded(groups.slice(1, 3)) : null
}

/** True for an address that a server on the internet can have (decisions §21). */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !private4.check(address, 'ipv4')
  // With a zone it is of this machine's own network.
  if (!isIPv6(address) || address.includes('%')) return false
  const inner = embeddedAddress(address)
  if (inner !== null) return isPublicAddress(inner)
  return global6.check(address, 'ipv6') && !private6.check(address, 'ipv6')
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
