import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { decode, encode } from 'dns-packet'
import { afterAll, expect, type TestContext, test } from 'vitest'
import { type PostRequest, postHint } from '../../../src/changes/webhooks/send/post.ts'
import { makeCertificates, makeFaultyCertificates, type ServedPair } from '../../support/certificates.ts'

const folder = await mkdtemp(join(tmpdir(), 'partner-send-'))
const { authority, certificate, key } = await makeCertificates(folder)
afterAll(() => rm(folder, { recursive: true, force: true }))
const tls = { key: await readFile(key), cert: await readFile(certificate) }
const ca = await readFile(authority, 'utf8')

type Ending = TestContext['onTestFinished']

/** Starts a server that passes each connection and its request to `answer`. */
async function serve(
  end: Ending,
  answer: (socket: Socket, request: string) => void,
  pair?: typeof tls | ServedPair,
) {
  const requests: string[] = []
  const handle = (socket: Socket) => {
    socket.on('error', () => {})
    let request = ''
    socket.on('data', (data) => {
      request += data
      if (!request.includes('\r\n\r\n')) return
      requests.push(request)
      answer(socket, request)
    })
  }
  const server = pair ? createTlsServer(pair, handle) : createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  end(() => void server.close())
  return { port: (server.address() as { port: number }).port, requests }
}

const send = (url: string, more: Partial<PostRequest> = {}) =>
  postHint({ url: new URL(url), headers: { 'x-one': '1' }, body: '{"ä":1}', allowsPrivate: true, ...more })
const reply = (text: string) => (socket: Socket) => socket.write(text)

/** A response after which the connection can stay open. */
const empty = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'

test.concurrent('postHint() posts the whole body and reads the status', async ({ onTestFinished }) => {
  const { port, requests } = await serve(onTestFinished, reply('HTTP/1.1 204 No Content\r\n\r\n'))
  expect(await send(`http://127.0.0.1:${port}/a%20b?c=d#e`)).toMatchObject({ status: 204, failure: null })
  const [request = ''] = requests
  expect(request).toMatch(/^POST \/a%20b\?c=d HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\n/)
  expect(request).toMatch(/\r\ncontent-length: 8\r\n/)
  expect(request).toMatch(/\r\nx-one: 1\r\nConnection: keep-alive\r\n\r\n/)
})

test.concurrent('postHint() over TLS goes on only with a certificate that is valid for the host', async ({
  onTestFinished,
}) => {
  // The connection stays open, but it is not reused for another name or with other certificate authorities.
  const { port, requests } = await serve(onTestFinished, reply(empty), tls)
  const lookup = async () => ['127.0.0.1']
  expect(await send(`https://127.0.0.1:${port}/`, { ca })).toMatchObject({ status: 200 })
  const failed = { status: null, failure: 'connection' }
  expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject(failed)
  expect(await send(`https://other.example:${port}/`, { ca, lookup })).toMatchObject(failed)
  expect(requests).toHaveLength(1)
})

test.concurrent('postHint() names what is wrong with a certificate', async ({ onTestFinished }) => {
  const made = await makeFaultyCertificates(await mkdtemp(join(folder, 'faulty-')))
  const detailWith = async (pair: ServedPair) => {
    const { port, requests } = await serve(onTestFinished, reply(empty), pair)
    const lookup = async () => ['127.0.0.1']
    const { status, detail } = await send(`https://hooks.example:${port}/`, { ca: made.authority, lookup })
    return { status, detail, requests: requests.length }
  }
  expect(await detailWith(made.sound)).toEqual({ status: 200, detail: null, requests: 1 })
  const refused = (detail: string) => ({ status: null, detail, requests: 0 })
  expect(await detailWith(made.withoutIntermediate)).toEqual(refused('chain_incomplete'))
  expect(await detailWith(made.selfSigned)).toEqual(refused('untrusted'))
  expect(await detailWith(made.ofOtherAuthority)).toEqual(refused('untrusted'))
  expect(await detailWith(made.ofOtherName)).toEqual(refused('name_mismatch'))
  expect(await detailWith(made.expired)).toEqual(refused('expired'))

  const withoutTls = createServer((socket) => socket.on('error', () => {}).end('220 mail.example\r\n'))
  await new Promise<void>((resolve) => withoutTls.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void withoutTls.close())
  const { port } = withoutTls.address() as { port: number }
  expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject({ failure: 'connection', detail: 'tls' })
})

test.concurrent('postHint() follows no redirect, and names the origin that it leads to', async ({
  onTestFinished,
}) => {
  const originAfter = async (status: string, location: string) => {
    const head = `HTTP/1.1 ${status}\r\n${location}content-length: 0\r\n\r\n`
    const { port, requests } = await serve(onTestFinished, reply(head))
    const { detail, redirectOrigin, failure } = await send(`http://127.0.0.1:${port}/`)
    expect({ failure, requests: requests.length }).toEqual({ failure: null, requests: 1 })
    return { detail, origin: redirectOrigin?.replace(`:${port}`, '') ?? null }
  }
  const redirect = (origin: string | null) => ({ detail: 'redirect', origin })
  const to = (location: string) => `Location: ${location}\r\n`
  for (const status of ['301 M', '302 F', '303 S', '307 T', '308 P'])
    expect(await originAfter(status, to('https://u:p@www.example.com/a?b=c'))).toEqual(
      redirect('https://www.example.com'),
    )
  expect(await originAfter('301 M', to('/hooks/'))).toEqual(redirect('http://127.0.0.1'))
  expect(await originAfter('301 M', '')).toEqual(redirect(null))
  expect(await originAfter('301 M', to('javascript:alert(1)'))).toEqual(redirect(null))
  expect(await originAfter('301 M', to(`https://${'a'.repeat(5000)}/`))).toEqual(redirect(null))
  expect(await originAfter('200 OK', to('https://www.example.com/'))).toEqual({ detail: null, origin: null })
})

test.concurrent('a connection is kept for the next post to its address, which is checked for every post', async ({
  onTestFinished,
}) => {
  const sockets = new Set<Socket>()
  const { port } = await serve(onTestFinished, (socket) => {
    sockets.add(socket)
    socket.write(empty)
  })
  const url = `http://kept.example:${port}/`
  const lookup = async () => ['127.0.0.1']
  for (const _ of Array(3)) expect(await send(url, { lookup })).toMatchObject({ status: 200 })
  expect(sockets.size).toBe(1)
  expect(await send(url, { lookup, allowsPrivate: false })).toMatchObject({ failure: 'address' })
  expect(await send(url, { lookup: async () => ['127.0.0.2'] })).toMatchObject({ failure: 'connection' })
  expect(sockets.size).toBe(1)
})

test.concurrent('a kept connection that is reset is replaced once', async ({ onTestFinished }) => {
  const served = new Map<Socket, number>()
  const { port, requests } = await serve(onTestFinished, (socket) => {
    served.set(socket, (served.get(socket) ?? 0) + 1)
    if (served.get(socket) === 1 && served.size < 3) socket.write(empty)
    else socket.destroy()
  })
  const url = `http://127.0.0.1:${port}/`
  expect(await send(url)).toMatchObject({ status: 200 })
  expect(await send(url)).toMatchObject({ status: 200 })
  expect(served.size).toBe(2)
  expect(await send(url)).toMatchObject({ status: null, failure: 'connection', detail: 'reset' })
  expect(served.size).toBe(3)
  expect(requests).toHaveLength(4)
})

test.concurrent('a body that never ends costs only the connection', async ({ onTestFinished }) => {
  const sockets = new Set<Socket>()
  const { port } = await serve(onTestFinished, (socket) => {
    sockets.add(socket)
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbegun')
  })
  for (const _ of Array(2))
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200, failure: null })
  expect(sockets.size).toBe(2)
})

test.concurrent('no name leads into the private network, wherever it moves', async ({ onTestFinished }) => {
  const { port, requests } = await serve(onTestFinished, reply('HTTP/1.1 200 OK\r\n\r\n'))
  const outside = '93.184.216.34'
  const inside = '127.0.0.1'
  const mapped = '::ffff:127.0.0.1'
  const answers = [[inside], [outside, inside], [mapped], [inside, outside], ['fd00::1']]
  for (const answer of answers) {
    let asked = 0
    // A second lookup would return a different address, so the name must be looked up only once.
    const lookup = async () => (asked++ === 0 ? answer : [inside])
    const sent = await send(`http://rebinding.example:${port}/`, { allowsPrivate: false, lookup })
    expect({ status: sent.status, failure: sent.failure, asked }).toEqual({
      status: null,
      failure: 'address',
      asked: 1,
    })
  }
  const literals = [
    'http://127.0.0.1',
    'http://2130706433',
    'http://[::ffff:7f00:1]',
    'http://0x7f.1',
    'http://localhost',
  ]
  for (const literal of literals) {
    const sent = await send(`${literal}:${port}/`, { allowsPrivate: false })
    expect({ literal, failure: sent.failure }).toEqual({ literal, failure: 'address' })
  }
  expect(requests).toEqual([])
})

/** Starts a name server that answers each query with the next address list and a TTL of 0. */
async function serveNames(end: Ending, addresses: string[][]) {
  const socket = createSocket('udp4')
  let asked = 0
  socket.on('message', (message, { port, address }) => {
    const { id, questions = [] } = decode(message)
    const data = addresses[asked++ % addresses.length] as string[]
    const answers = data.map((one) => ({
      type: 'A' as const,
      name: questions[0]?.name ?? '',
      ttl: 0,
      data: one,
    }))
    socket.send(encode({ type: 'response', id: id ?? 0, questions, answers }), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  end(() => void socket.close())
  const resolver = new Resolver()
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  return { lookup: (name: string) => resolver.resolve4(name), asked: () => asked }
}

test.concurrent('a name server that answers otherwise each time leads nowhere: what is checked is what is connected to', async ({
  onTestFinished,
}) => {
  const { port, requests } = await serve(onTestFinished, reply('HTTP/1.1 200 OK\r\n\r\n'))
  const url = `http://rebinding.example:${port}/`
  const moving = await serveNames(onTestFinished, [
    ['93.184.216.34', '127.0.0.1'],
    ['169.254.169.254'],
    ['10.0.0.1'],
  ])
  for (const _ of Array(6))
    expect(await send(url, { allowsPrivate: false, lookup: moving.lookup })).toMatchObject({
      status: null,
      failure: 'address',
    })
  expect({ asked: moving.asked(), requests }).toEqual({ asked: 6, requests: [] })
  const first = await serveNames(onTestFinished, [['127.0.0.1'], ['127.0.0.2']])
  expect(await send(url, { lookup: first.lookup })).toMatchObject({ status: 200 })
  expect(first.asked()).toBe(1)
})

test.concurrent('an address that takes no connection is followed by the next', async ({ onTestFinished }) => {
  const { port, requests } = await serve(onTestFinished, reply('HTTP/1.1 200 OK\r\n\r\n'))
  const lookup = async () => ['::1', '127.0.0.2', '127.0.0.1']
  expect(await send(`http://two.example:${port}/`, { lookup })).toMatchObject({ status: 200 })
  expect(requests).toHaveLength(1)
})

test.concurrent("postHint() follows no redirect and ignores the environment's proxies", async ({
  onTestFinished,
}) => {
  const inner = await serve(onTestFinished, reply('HTTP/1.1 200 OK\r\n\r\n'))
  const { port } = await serve(
    onTestFinished,
    reply(`HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:${inner.port}/\r\n\r\n`),
  )
  for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'])
    process.env[name] = `http://127.0.0.1:${inner.port}`
  onTestFinished(() => {
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY']) delete process.env[name]
  })
  expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 302 })
  expect(inner.requests).toEqual([])
})

test.concurrent('an endless response takes no memory, because only its head is read, up to 64 KiB', async ({
  onTestFinished,
}) => {
  const flood = (head: string) => (socket: Socket) => {
    socket.write(head)
    const chunk = 'x: '.padEnd(65_536, 'y')
    const more = () => {
      while (!socket.destroyed && socket.write(chunk)) {}
    }
    socket.on('drain', more)
    more()
  }
  const body = await serve(onTestFinished, flood('HTTP/1.1 200 OK\r\n\r\n'))
  expect(await send(`http://127.0.0.1:${body.port}/`)).toMatchObject({ status: 200 })
  const head = await serve(onTestFinished, flood('HTTP/1.1 200 OK\r\nx: '))
  expect(await send(`http://127.0.0.1:${head.port}/`)).toMatchObject({ status: null, failure: 'connection' })
})

const long = 'y'.repeat(66_000)
test.concurrent.for([
  ['200 OK', `content-length: ${long.length}`, long, { status: 200 }],
  [
    '200 OK',
    'transfer-encoding: chunked',
    `${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`,
    { status: 200 },
  ],
  ['200 OK', 'connection: close', long, { status: 200 }],
  ['500 No', `content-length: ${long.length}`, long, { status: 500 }],
  [
    '503 No',
    `retry-after: 120\r\ncontent-length: ${long.length}`,
    long,
    { status: 503, retryAfterSeconds: 120 },
  ],
  ['410 Gone', `content-length: ${long.length}`, long, { status: 410 }],
  ['410 Gone', 'content-length: 999999999999', 'begun', { status: 410 }],
] as const)(
  '%s with "%s" and a body of more than 64 KiB keeps its status, and costs the connection',
  async ([status, header, body, expected], { onTestFinished }) => {
    const closed = Promise.withResolvers<void>()
    const { port } = await serve(onTestFinished, (socket) => {
      socket.on('close', () => closed.resolve())
      socket.write(`HTTP/1.1 ${status}\r\n${header}\r\n\r\n${body}`)
    })
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ failure: null, ...expected })
    await closed.promise
  },
)

test.concurrent('a connection that is reset after the head of a response loses nothing of it', async ({
  onTestFinished,
}) => {
  const { port, requests } = await serve(onTestFinished, (socket) => {
    socket.write('HTTP/1.1 503 No\r\nretry-after: 9\r\ncontent-length: 100\r\n\r\nbegun', () =>
      socket.resetAndDestroy(),
    )
  })
  const result = await send(`http://127.0.0.1:${port}/`)
  expect(result).toMatchObject({ status: 503, failure: null, retryAfterSeconds: 9 })
  expect(requests).toHaveLength(1)
})

test.concurrent('a body of up to 64 KiB is awaited for a second, so that its connection can be kept', async ({
  expect,
  onTestFinished,
}) => {
  const sockets = new Set<Socket>()
  const { port } = await serve(onTestFinished, async (socket) => {
    sockets.add(socket)
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 65536\r\n\r\n')
    await Bun.sleep(200)
    socket.write('y'.repeat(65_536))
  })
  const post = async () => {
    const { status, milliseconds } = await send(`http://127.0.0.1:${port}/`)
    // The duration ends with the head, because a slow body is not a slow response.
    return { status, isHeadOnly: milliseconds < 200 }
  }
  const postTwice = async () => {
    const first = await post()
    const known = sockets.size
    const second = await post()
    return { first, second, isKept: sockets.size === known }
  }
  const expected = { status: 200, isHeadOnly: true }
  // A busy machine may take so long over a head or a body that this must be tried again.
  await expect.poll(postTwice).toEqual({ first: expected, second: expected, isKept: true })
})

test.concurrent('interim responses of more than 64 KiB in one piece fail the attempt, like a longer head', async ({
  onTestFinished,
}) => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'
  const answer = (bytes: number) =>
    serve(onTestFinished, reply(`${interim.repeat(bytes / interim.length)}${empty}`))
  const short = await answer(60_000)
  const tooLong = await answer(70_000)
  expect(await send(`http://127.0.0.1:${short.port}/`)).toMatchObject({ status: 200, failure: null })
  expect(await send(`http://127.0.0.1:${tooLong.port}/`)).toMatchObject({
    status: null,
    failure: 'connection',
  })
})

test.concurrent('interim responses without an end are read up to 64 KiB as well', async ({
  onTestFinished,
}) => {
  let written = 0
  const { port } = await serve(onTestFinished, (socket) => {
    const chunk = 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'.repeat(100)
    const more = () => {
      // Only a reader without a limit would get to this bound.
      while (!socket.destroyed && written < 64_000_000) {
        written += chunk.length
        if (!socket.write(chunk)) return
      }
    }
    socket.on('drain', more)
    more()
  })
  const sent = await send(`http://127.0.0.1:${port}/`)
  expect(sent).toMatchObject({ status: null, failure: 'connection', detail: null })
  // The service read at most 64 KiB; the kernel's buffers hold the rest.
  expect(written).toBeLessThan(16_000_000)
})

test.concurrent.for([
  ['HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\nHTTP/1.1 202 Accepted\r\n\r\n', { status: 202 }],
  ['HTTP/1.1 503 No\r\nRetry-After: 120\r\n\r\n', { status: 503, retryAfterSeconds: 120 }],
  [
    'HTTP/1.1 503 No\r\nRetry-After:\t999999999999\r\n\r\n',
    { status: 503, retryAfterSeconds: 999_999_999_999 },
  ],
  ['HTTP/1.1 503 No\r\nRetry-After: 2099-01-01T00:00:00Z\r\n\r\n', { status: 503, retryAfterSeconds: null }],
  ['HTTP/1.1 503 No\r\nretry-after: soon\r\n\r\n', { status: 503, retryAfterSeconds: null }],
  ['HTTP/1.1 200\r\n\r\n', { status: 200 }],
  ['HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', { status: 101 }],
  ['HTTP/1.1 101 Switching Protocols\r\n\r\n', { status: 101 }],
  ['SSH-2.0-OpenSSH_9.2\r\n\r\n', { status: null, failure: 'connection' }],
  ['HTTP/1.1 20x OK\r\n\r\n', { status: null, failure: 'connection' }],
] as const)('%j is read as %j', async ([text, expected], { onTestFinished }) => {
  const { port } = await serve(onTestFinished, reply(text))
  expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject(expected)
})

test.concurrent.for([1000, 7])(
  'a header of 60,000 spaces in pieces of %i bytes is read',
  async (length, { onTestFinished }) => {
    const text = `HTTP/1.1 503 No\r\nretry-after: x${' '.repeat(60_000)}y\r\n\r\n`
    const { port } = await serve(onTestFinished, async (socket) => {
      for (let from = 0; from < text.length && !socket.destroyed; from += length) {
        if (!socket.write(text.slice(from, from + length)))
          await new Promise((resolve) => socket.once('drain', resolve))
      }
    })
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 503, retryAfterSeconds: null })
  },
)

test.concurrent('a server that closes the connection, or is not there, is a failed connection', async ({
  onTestFinished,
}) => {
  const { port } = await serve(onTestFinished, (socket) => socket.destroy())
  const failed = (detail: string | null) => ({ status: null, failure: 'connection', detail })
  expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject(failed('reset'))
  expect(await send('http://127.0.0.1:1/')).toMatchObject(failed('refused'))
  const two = await serve(onTestFinished, (socket) => socket.destroy())
  // A hint that was sent to one address is not sent to the next address.
  const both = async () => ['127.0.0.1', '127.0.0.1']
  expect(await send(`http://two.example:${two.port}/`, { lookup: both })).toMatchObject({
    failure: 'connection',
  })
  expect(two.requests).toHaveLength(1)
  const lookups = [
    async () => [],
    async () => {
      throw new Error('ENOTFOUND')
    },
  ]
  for (const lookup of lookups)
    expect(await send('http://nowhere.example/', { lookup })).toMatchObject(failed('dns'))
})
