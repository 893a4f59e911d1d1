import { noteIfPossible } from '../shared/output.ts'
import { version } from '../shared/program.ts'
import { fetchDocument, packagePath } from './openapi.ts'

/** Longest time that a command waits for the service's version, in milliseconds. */
const patienceMilliseconds = 5000

/** Returns the version of this program that the service at `base` serves; undefined if it does not tell. */
export async function fetchServedVersion(base: string, stop?: AbortSignal): Promise<string | undefined> {
  const metadata = await fetchDocument(base, packagePath, stop).catch(() => undefined)
  const served = metadata?.['dist-tags']?.latest
  return typeof served === 'string' ? served : undefined
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
  const patience = AbortSignal.timeout(patienceMilliseconds)
  void fetchServedVersion(base, AbortSignal.any([stop, patience])).then((served) => {
    if (served === undefined || !isNewer(served, version)) return
    noteIfPossible(
      `This is ${version}, but the service has ${served}; get that one from ${downloadOf(base)}`,
    )
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
