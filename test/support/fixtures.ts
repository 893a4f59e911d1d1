/** Returns a request body from `fixtures/`, such as `listings/barcelona-house`. */
// biome-ignore lint/suspicious/noExplicitAny: tests change fixtures freely
export async function readWholeFixture(name: string): Promise<any> {
  return Bun.file(new URL(`../../fixtures/${name}.json`, import.meta.url)).json()
}

/**
 * Returns a request body from `fixtures/`. A listing's rooms have no calendars, because every service of a run would read
 * the calendars of all tests' listings in the background, at servers that do not exist.
 */
// biome-ignore lint/suspicious/noExplicitAny: tests change fixtures freely
export async function readFixture(name: string): Promise<any> {
  const fixture = await readWholeFixture(name)
  for (const { rooms } of fixture.room_types ?? [])
    for (const { availability } of rooms ?? []) delete availability?.ical
  return fixture
}
