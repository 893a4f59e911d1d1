import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { decode, encode } from 'dns-packet'
import { type FileAnswer, fetchFile } from '../../../src/platform/outgoing/file.ts'

/**
 * Runs in a network of its own, in which this machine has the public address {@link outside} and a private one. So a
 * redirect can lead from a public server to a private one without anything of it being pretended. Prints what became of
 * each request as JSON.
 */
const outside = '93.184.216.34'
const inside = '127.0.0.1'

const folder = process.argv[2] as string
const read = (name: string) => Bun.file(join(folder, name)).text()
const ca = await read('authority.pem')
const pair = { cert: await read('server.pem'), key: await read('server.key') }

/** The paths of the requests that the public and the private server got. */
const asked: Record<string, string[]> = { outside: [], inside: [] }

/** Starts a server that redirects every request to `?to=…`, and has a file otherwise. */
async function serve(address: string, where: string, port: number): Promise<number> {
  const server = createServer(pair, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://server')
    asked[where]?.push(pathname)
    const to = searchParams.get('to')
    if (to) response.writeHead(302, { location: to }).end()
    else response.end('a file')
  })
  await new Promise<void>((resolve) => server.listen(port, address, resolve))
  return (server.address() as { port: number }).port
}

/** Starts a name server that answers each query with the next addresses of the name. Returns a look-up that asks it. */
async function serveNames(addresses: Record<string, string[][]>) {
  const socket = createSocket('udp4')
  socket.on('message', (message, { port, address }) => {
    const { id, questions = [] } = decode(message)
    const name = questions[0]?.name ?? ''
    const data = addresses[name]?.shift() ?? []
    const answers = data.map((one) => ({ type: 'A' as const, name, ttl: 0, data: one }))
    socket.send(encode({ type: 'response', id: id ?? 0, questions, answers }), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, inside, resolve))
  const resolver = new Resolver()
  resolver.setServers([`${inside}:${socket.address().port}`])
  return (name: string) => resolver.resolve4(name)
}

const port = await serve(outside, 'outside', 0)
await serve(inside, 'inside', port)
const lookup = await serveNames({
  'public.example.com': [[outside]],
  'moving.example.com': [[outside], [inside]],
  'mixed.example.com': [[outside, inside]],
  'private.example.com': [[inside]],
})

async function outcomeOf(url: string): Promise<string> {
  const answer: FileAnswer = await fetchFile({
    url: new URL(url),
    headers: {},
    allowsPrivate: false,
    maxBytes: 1000,
    timeoutMilliseconds: 20_000,
    maxRedirects: 3,
    ca,
    lookup,
  })
  if (answer.kind === 'failed') return `${answer.error} ${answer.status}`
  let text = ''
  for await (const piece of answer.content.pieces()) text += Buffer.from(piece).toString()
  return text
}

const redirectTo = (url: string) =>
  outcomeOf(`https://${outside}:${port}/redirect?to=${encodeURIComponent(url)}`)

const outcomes = {
  public: await outcomeOf(`https://${outside}:${port}/direct`),
  publicName: await outcomeOf(`https://public.example.com:${port}/name`),
  redirectToPublic: await redirectTo('/relative'),
  redirectToPrivate: await redirectTo(`https://${inside}:${port}/`),
  redirectToPrivateName: await redirectTo(`https://private.example.com:${port}/`),
  redirectToMixedName: await redirectTo(`https://mixed.example.com:${port}/`),
  redirectToLocalhost: await redirectTo(`https://localhost:${port}/`),
  redirectToMetadata: await redirectTo('https://169.254.169.254/latest/meta-data'),
  redirectToUserInfo: await redirectTo(`https://u:p@${outside}:${port}/`),
  redirectToHttp: await redirectTo(`http://${outside}:${port}/`),
  // The name is public when it is asked first, and private when its redirect to itself is followed.
  nameThatMoves: await outcomeOf(`https://moving.example.com:${port}/moving?to=/moved`),
}
console.log(JSON.stringify({ outcomes, asked }))
process.exit(0)
