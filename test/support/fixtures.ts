/** Returns a request body from `fixtures/`, such as `listings/barcelona-house`. */
// biome-ignore lint/suspicious/noExplicitAny: tests change fixtures freely
export async function readFixture(name: string): Promise<any> {
  return Bun.file(new URL(`../../fixtures/${name}.json`, import.meta.url)).json()
}
