import { readFileSync } from 'node:fs'

/** Redis address and login credentials. */
export interface RedisAddress {
  /** One server, the nodes of a cluster, or sentinels that know which server is the master. */
  kind: 'server' | 'cluster' | 'sentinel'
  nodes: { host: string; port: number }[]
  username?: string
  password?: string
  db?: number
  /** Name of the master that the sentinels watch. */
  masterName?: string
  sentinelPassword?: string
  /** Absent if TLS is off. Certificates and keys are the contents of PEM files. */
  tls?: { ca?: string; cert?: string; key?: string }
}

const pattern =
  /^redis(?<tls>s?)(?<sentinel>\+sentinel)?:\/\/(?:(?<login>[^@/]*)@)?(?<nodes>[^@/?]+)(?:\/(?<path>[^/?]*))?(?:\?(?<options>.*))?$/
const encodeHint = 'percent-encode a password in it, or set REDIS_PASSWORD instead'
const ports = { server: 6379, cluster: 6379, sentinel: 26379 } as const
const optionNames = ['tlsCAFile', 'tlsCertificateKeyFile', 'sentinelPassword']

/**
 * Parses `REDIS_URL`: `redis://user:password@host:6379/0` for one server, several hosts separated by commas for a
 * cluster, or `redis+sentinel://user:password@sentinel1,sentinel2/name` for a master behind sentinels. The scheme
 * `rediss` enables TLS; its options `tlsCAFile` and `tlsCertificateKeyFile` work as in MongoDB connection strings. The
 * user name and password must be percent-encoded.
 *
 * @throws Error that describes the problem without repeating the address
 */
export function parseRedisUrl(url: string): RedisAddress {
  const { tls, sentinel, login, nodes = '', path = '', options = '' } = pattern.exec(url)?.groups ?? {}
  if (nodes === '') throw new Error(`must be an address of Redis; ${encodeHint}`)
  const hasSeveralNodes = nodes.includes(',')
  const kindOfServers = hasSeveralNodes ? 'cluster' : 'server'
  const kind = sentinel ? 'sentinel' : kindOfServers
  if (kind === 'sentinel' && path === '') throw new Error('must end with "/" and the name of the master')
  if (kind !== 'sentinel' && !/^\d*$/.test(path))
    throw new Error(`must end with a database number or nothing; ${encodeHint}`)
  if (kind === 'cluster' && Number(path) !== 0)
    throw new Error('must not name a database, because a cluster has only one')
  const query = new URLSearchParams(options)
  // The message does not repeat the unknown option, because it may be part of a password.
  if ([...query.keys()].some((name) => !optionNames.includes(name)))
    throw new Error(`has an option other than ${optionNames.join(', ')}; ${encodeHint}`)
  const sentinelPassword = query.get('sentinelPassword')
  return {
    kind,
    nodes: nodes.split(',').map((node) => parseNode(node, ports[kind])),
    ...parseLogin(login),
    ...(kind === 'server' ? { db: Number(path) } : {}),
    ...(kind === 'sentinel' ? { masterName: decode(path) } : {}),
    ...(sentinelPassword ? { sentinelPassword } : {}),
    ...(tls ? { tls: readCertificates(query) } : {}),
  }
}

function parseNode(node: string, defaultPort: number): RedisAddress['nodes'][number] {
  const { v6, name, port } =
    /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:]+))(?::(?<port>\d+))?$/.exec(node)?.groups ?? {}
  const host = v6 ?? name
  const number = port === undefined ? defaultPort : Number(port)
  if (!host || number < 1 || number > 65_535)
    throw new Error('must name its hosts as host:port, separated by commas')
  return { host, port: number }
}

function parseLogin(login: string | undefined): Pick<RedisAddress, 'username' | 'password'> {
  if (!login) return {}
  const end = login.includes(':') ? login.indexOf(':') : login.length
  const username = decode(login.slice(0, end))
  const password = decode(login.slice(end + 1))
  return { ...(username ? { username } : {}), ...(password ? { password } : {}) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error(`must be an address of Redis; ${encodeHint}`)
  }
}

function readCertificates(query: URLSearchParams): NonNullable<RedisAddress['tls']> {
  const read = (name: string) => {
    const file = query.get(name)
    if (!file) return undefined
    try {
      return readFileSync(file, 'utf8')
    } catch {
      throw new Error(`names a file in "${name}" that cannot be read`)
    }
  }
  const ca = read('tlsCAFile')
  const own = read('tlsCertificateKeyFile')
  return { ...(ca ? { ca } : {}), ...(own ? { cert: own, key: own } : {}) }
}
