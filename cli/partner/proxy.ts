import { builtIn } from '../shared/built-in.ts'

/**
 * Bun's `fetch` uses the proxies of `HTTP_PROXY` and `HTTPS_PROXY` for every address, and so does Node's with
 * `NODE_USE_ENV_PROXY`. A proxy on another machine cannot reach a program on this one, and would read what was never
 * meant to leave it: a stored API key, a hint.
 */

/** Returns true if a URL's `hostname` is this machine: a loopback address, `localhost`, or a name below it (RFC 6761). */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  const { BlockList, isIP } = builtIn('node:net')
  const family = isIP(host)
  if (family === 0) return /(^|\.)localhost\.?$/i.test(host)
  const loopback = new BlockList()
  loopback.addSubnet('127.0.0.0', 8)
  loopback.addAddress('::1', 'ipv6')
  return loopback.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Makes this process send requests for a loopback address directly, whatever the proxy variables say. Does nothing for
 * any other address, or if no proxy is set. Both runtimes read the exceptions again for each request, and look first at the name in lower case.
 */
export function keepFromProxy(address: string): void {
  if (!hasProxy()) return
  const { hostname } = new URL(address)
  if (!isLoopback(hostname)) return
  const exceptions = new Set((process.env.no_proxy || process.env.NO_PROXY || '').split(',').filter(Boolean))
  exceptions.add(hostname)
  // Bun expects an IPv6 address without brackets, Node with them.
  exceptions.add(hostname.replace(/^\[|\]$/g, ''))
  process.env.no_proxy = [...exceptions].join(',')
  process.env.NO_PROXY = process.env.no_proxy
}

function hasProxy(): boolean {
  return Object.keys(process.env).some((name) => /^(https?|all)_proxy$/i.test(name))
}
