/*
 * Starts the service with a `Bun.listen` that keeps the process busy for half a second. If the service listened on its
 * port only for a moment, clients would certainly lose a connection in that moment.
 */
const listen = Bun.listen
Bun.listen = ((options: Parameters<typeof listen>[0]) => {
  const listener = listen(options)
  Bun.sleepSync(500)
  return listener
}) as typeof listen

await import('../../src/main.ts')

export {}
