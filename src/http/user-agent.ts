import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../core/config.ts'

/**
 * Returns the `User-Agent` of every request that the service sends to others' servers (decisions §21 and §31), with which
 * a firewall can allow them. The address is written as a URL, because a header cannot have a host name beyond ASCII.
 */
export function userAgentOf({ publicUrl }: Pick<Config, 'publicUrl'>): string {
  return `partner-interface/${packageJson.version} (+${(URL.parse(publicUrl)?.href ?? publicUrl).replace(/\/$/, '')})`
}
