/**
 * The first patch of each line in which a client without a password can no longer read the server's memory
 * (CVE-2025-14847). Lines that are missing, such as 4.0, never got the fix; lines after the newest one have it.
 */
const firstPatches: Record<string, number> = {
  '4.4': 30,
  '5.0': 32,
  '6.0': 27,
  '7.0': 28,
  '8.0': 17,
  '8.2': 3,
}
const newestLine = 8.2

/** Returns true if production may run on this version of the database server (operations, MongoDB). */
export function isPatched(version: string): boolean {
  const [major, minor, patch] = version.split('.').map((part) => Number.parseInt(part, 10))
  const line = `${major}.${minor}`
  const first = firstPatches[line]
  return first === undefined ? Number(line) > newestLine : (patch ?? 0) >= first
}
