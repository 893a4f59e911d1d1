import { openReferenceStore } from './store.ts'

/** The bare server: `Bun.serve`, the native driver, and nothing else. No key, limit, validation or log. */
const store = await openReferenceStore(process.env)
const json = { headers: { 'content-type': 'application/json' } }

async function respond(request: Request): Promise<object> {
  const url = new URL(request.url)
  if (url.pathname === '/feed') return store.feedPage(url.searchParams)
  if (url.pathname === '/bookings')
    return store.createBooking((await request.json()) as Record<string, unknown>)
  if (url.pathname === '/name') return store.rename(1, ((await request.json()) as { name: string }).name)
  if (url.pathname === '/availability')
    return store.replaceAvailability(((await request.json()) as { data: Record<string, unknown>[] }).data)
  return store.point()
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => new Response(JSON.stringify(await respond(request)), json),
})
console.log(server.url.origin)
