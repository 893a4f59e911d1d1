import { noteIfPossible } from '../shared/output.ts'
import { version } from '../shared/program.ts'

/** The metadata of this program's package (decisions §30). */
const packagePath = '/npm/@partner-interface/partnerctl'

/** Longest time that a command waits for the version if it needs it, and beside its work, in milliseconds. */
const waitMilliseconds = { needed: 30_000, beside: 5000 } as const

/**
 * Returns the version of this program that the service at `base` serves, which needs no key; undefined if it does not
 * tell.
 */
export async function fetchServedVersion(
  base: string,
  end = AbortSignal.timeout(waitMilliseconds.needed),
): Promise<string | undefined> {
  try {
    const response = await fetch(base + packagePath, { redirect: 'manual', signal: end })
    const metadata = (await response.json()) as { 'dist-tags'?: { latest?: unknown } } | null
    const served = metadata?.['dist-tags']?.latest
    return typeof served === 'string' ? served : undefined
  } catch {
    return undefined
  }
}

/** Says where to get the service's own version of this program. */
export function downloadOf(base: string): string {
  return `${base}/downloads/partnerctl.mjs`
}

/**
 * Says once on standard error if the service has a newer version than this program (decisions §15). Commands that run for
 * long call it beside their work, because nobody runs `doctor` every day. No command waits for it: a service that does not
 * tell its version must not keep a poll from ending.
 */
export function noteNewerVersion(base: string, stop: AbortSignal): void {
  const patience = AbortSignal.timeout(waitMilliseconds.beside)
  void fetchServedVersion(base, AbortSignal.any([stop, patience])).then((served) => {
    if (served === undefined || !isNewer(served, version)) return
    noteIfPossible(`This is ${version}, but the service has ${served}; get that one from ${downloadOf(base)}`)
  })
}

/** Compares major, minor and patch; what follows them, as in a build that is not a release, does not count. */
export function isNewer(one: string, other: string): boolean {
  const numbersOf = (text: string) => (/^(\d+)\.(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number)
  const others = numbersOf(other)
  const [difference = 0] = numbersOf(one)
    .map((number, index) => number - (others[index] ?? 0))
    .filter((part) => part !== 0)
  return difference > 0
}
