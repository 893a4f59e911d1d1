import { openReferenceStore } from './store.ts'

/** The minimal server: `Bun.serve` and the native driver, without keys, limits, validation or logs. */
const store = await openReferenceStore(process.env)
const json = { headers: { 'content-type': 'application/json' } }

async function respond(request: Request): Promise<object> {
  const url = new URL(request.url)
  if (url.pathname === '/feed') return store.feedPage(url.searchParams)
  if (url.pathname === '/bookings')
    return store.createBooking((await request.json()) as Record<string, unknown>)
  if (url.pathname === '/listings') return store.listingsPage()
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
