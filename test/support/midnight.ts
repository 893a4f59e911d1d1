const day = 86_400_000
/** Longer than a file's tests take. */
const tooShort = 120_000

/** Waits for the next day, in UTC, if little is left of this one. For tests that count days from today. */
export async function awaitDay(): Promise<void> {
  const left = day - (Date.now() % day)
  if (left < tooShort) await Bun.sleep(left)
}

/** Returns the milliseconds until the next noon in UTC. A clock that starts there is far from midnight. */
export function untilNoon(): number {
  return (day + day / 2 - (Date.now() % day)) % day
}
