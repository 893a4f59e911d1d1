import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, expect, type TestContext, test } from 'vitest'
import { noContent } from '../../../src/platform/outgoing/body.ts'
import { UnreadableContent } from '../../../src/platform/outgoing/content.ts'
import { type FileAnswer, type FileRequest, fetchFile } from '../../../src/platform/outgoing/file.ts'
import { type Turn, unlimited } from '../../../src/platform/outgoing/turns.ts'
import { makeCertificates, makeFaultyCertificates, type ServedPair } from '../../support/certificates.ts'

const folder = await mkdtemp(join(tmpdir(), 'partner-file-'))
const { authority, certificate, key } = await makeCertificates(folder)
afterAll(() => rm(folder, { recursive: true, force: true }))
const tls = { key: await readFile(key, 'utf8'), cert: await readFile(certificate, 'utf8') }
const ca = await readFile(authority, 'utf8')

type Ending = TestContext['onTestFinished']

/** Starts a server that passes each connection and the number of requests before it to `answer`. */
async function serve(end: Ending, answer: (socket: Socket, before: number) => void, pair?: ServedPair) {
  const requests: string[] = []
  const sockets = new Set<Socket>()
  const handle = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    let request = ''
    socket.on('data', (data) => {
      request += data
      if (!request.includes('\r\n\r\n')) return
      requests.push(request)
      request = ''
      answer(socket, requests.length - 1)
    })
  }
  const server = pair ? createTlsServer(pair, handle) : createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  end(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as { port: number }
  return { port, requests, sockets, url: `${pair ? 'https' : 'http'}://127.0.0.1:${port}` }
}

const get = (url: string, more: Partial<FileRequest> = {}) =>
  fetchFile({
    url: new URL(url),
    headers: { 'x-one': '1' },
    allowsPrivate: true,
    maxBytes: 2 * 1024 * 1024,
    timeoutMilliseconds: 20_000,
    maxRedirects: 3,
    ...more,
  })

const file = 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n'

/** Returns a response with its length. */
function response(status: string, headers: string[], body: string | Uint8Array = ''): Buffer {
  const bytes = Buffer.from(body)
  const head = [`HTTP/1.1 ${status}`, ...headers, `content-length: ${bytes.length}`].join('\r\n')
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), bytes])
}

const redirect = (location: string, status = '302 Found') => response(status, [`Location: ${location}`])
const reply = (bytes: string | Uint8Array) => (socket: Socket) => void socket.write(bytes)
const failed = (error: string, status: number | null = null) => ({
  kind: 'failed',
  error,
  status,
  retryAfterSeconds: null,
})

/** Returns the file as text, or nothing if its content cannot be decoded to the end. */
async function textOf(answer: FileAnswer): Promise<string | FileAnswer> {
  if (answer.kind !== 'answered') return answer
  let text = ''
  try {
    for await (const piece of answer.content.pieces()) text += Buffer.from(piece).toString('latin1')
  } catch (error) {
    expect(error).toBeInstanceOf(UnreadableContent)
    return ''
  }
  return text
}

test.concurrent('fetchFile() asks with the headers it was given, returns the file with its validators, and closes the connection', async ({
  onTestFinished,
}) => {
  const lines = ['ETag: W/"a-1"', 'Last-Modified: Sat, 28 Nov 2026 10:00:00 GMT', 'Set-Cookie: a=b']
  const { url, requests, sockets } = await serve(onTestFinished, reply(response('200 OK', lines, file)))
  const answer = await get(`${url}/a%20b.ics?s=secret#part`)
  expect(answer).toEqual({
    kind: 'answered',
    status: 200,
    etag: 'W/"a-1"',
    lastModified: 'Sat, 28 Nov 2026 10:00:00 GMT',
    retryAfterSeconds: null,
    content: expect.anything(),
  })
  expect(await textOf(answer)).toBe(file)
  await get(`${url}/again`, { headers: { 'if-none-match': 'W/"a-1"' } })
  await expect.poll(() => sockets.size).toBe(0)
  const [first = '', second = ''] = requests
  expect(first).toMatch(/^GET \/a%20b\.ics\?s=secret HTTP\/1\.1\r\n/)
  expect(first).toMatch(/\r\nx-one: 1\r\n/)
  expect(first).toMatch(/\r\naccept-encoding: gzip, deflate\r\n/i)
  expect(first).toMatch(/\r\nconnection: close\r\n/i)
  expect(first).not.toMatch(/content-length|transfer-encoding/i)
  expect(second).toMatch(/\r\nif-none-match: W\/"a-1"\r\n/i)
  expect(second).not.toMatch(/cookie/i)
})

test.concurrent('a status without a file has no body, but its headers', async ({ onTestFinished }) => {
  const answerTo = async (bytes: string | Uint8Array) => {
    const { url } = await serve(onTestFinished, reply(bytes))
    return get(url)
  }
  const empty = (status: number, more: object = {}) => ({
    kind: 'answered',
    status,
    etag: null,
    lastModified: null,
    retryAfterSeconds: null,
    content: noContent,
    ...more,
  })
  const without = 'HTTP/1.1 204 No Content\r\n\r\n'
  expect(await answerTo(without)).toEqual(empty(204))
  const unchanged = 'HTTP/1.1 304 Not Modified\r\nETag: "b"\r\ncontent-length: 100\r\n\r\n'
  expect(await answerTo(unchanged)).toEqual(empty(304, { etag: '"b"' }))
  expect(await answerTo(response('404 Not Found', [], file))).toEqual(empty(404))
  const later = response('503 No', ['Retry-After: 120'], file)
  expect(await answerTo(later)).toEqual(empty(503, { retryAfterSeconds: 120 }))
  expect(await answerTo(response('206 Partial Content', [], file))).toEqual(empty(206))
  const switching = 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'
  expect(await answerTo(switching)).toEqual(empty(101))
  expect(await answerTo(response('300 Multiple Choices', ['Location: /other'], file))).toEqual(empty(300))
})

test.concurrent('Retry-After may be a date', async ({ onTestFinished }) => {
  const date = new Date(Date.now() + 600_000).toUTCString()
  const { url } = await serve(onTestFinished, reply(response('429 No', [`Retry-After: ${date}`])))
  const answer = await get(url)
  expect(answer.retryAfterSeconds).toBeGreaterThan(300)
  expect(answer.retryAfterSeconds).toBeLessThanOrEqual(600)
})

test.concurrent('a validator that could not be sent back is none', async ({ onTestFinished }) => {
  for (const etag of [`"${'a'.repeat(600)}"`, '"\u00e4"']) {
    const bytes = Buffer.concat([
      Buffer.from(`HTTP/1.1 200 OK\r\nETag: ${etag}\r\ncontent-length: 1\r\n\r\nx`, 'latin1'),
    ])
    const { url } = await serve(onTestFinished, reply(bytes))
    expect(await get(url)).toMatchObject({ status: 200, etag: null })
  }
})

test.concurrent.for([
  ['identity', file],
  ['gzip', gzipSync(file)],
  ['X-GZIP', gzipSync(file)],
  ['deflate', deflateSync(file)],
  ['deflate', deflateRawSync(file)],
] as const)('a body with the encoding %s is decoded', async ([encoding, body], { onTestFinished }) => {
  const bytes = response('200 OK', [`Content-Encoding: ${encoding}`], body)
  const { url } = await serve(onTestFinished, reply(bytes))
  expect(await textOf(await get(url))).toBe(file)
  const inPieces = await serve(onTestFinished, async (socket) => {
    for (const byte of bytes) {
      socket.write(Buffer.of(byte))
      await Bun.sleep(0)
    }
  })
  expect(await textOf(await get(inPieces.url))).toBe(file)
})

test.concurrent.for([
  ['an encoding that was not asked for', ['Content-Encoding: br'], brotliCompressSync(file)],
  ['two encodings', ['Content-Encoding: gzip, br'], file],
  ['an encoding that is a name of an object', ['Content-Encoding: constructor'], file],
  ['a body that is not encoded as it says', ['Content-Encoding: gzip'], file],
  ['a compressed body without its end', ['Content-Encoding: gzip'], gzipSync(file).subarray(0, -6)],
  [
    'a compressed body without its checksum',
    ['Content-Encoding: deflate'],
    deflateSync(file).subarray(0, -1),
  ],
  ['a compressed body of no bytes', ['Content-Encoding: gzip'], ''],
] as const)('%s is read as nothing, and never as a part', async ([, headers, body], { onTestFinished }) => {
  const { url } = await serve(onTestFinished, reply(response('200 OK', [...headers], body)))
  expect(await textOf(await get(url))).toBe('')
})

test.concurrent.for([
  ['before its length', `HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n${file}`],
  ['before its last chunk', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nBEG\r\n`],
  ['within a compressed body', compressedAndCut()],
] as const)('a body that is cut short %s is a failure', async ([, bytes], { onTestFinished }) => {
  const ended = await serve(onTestFinished, (socket) => void socket.end(bytes))
  const reset = await serve(onTestFinished, (socket) => {
    socket.write(bytes)
    setTimeout(() => socket.resetAndDestroy(), 50)
  })
  expect(await get(ended.url)).toEqual(failed('refused', 200))
  expect(await get(reset.url)).toEqual(failed('refused', 200))
})

function compressedAndCut(): Uint8Array {
  const headers = ['Content-Encoding: gzip']
  return response('200 OK', headers, gzipSync(file)).subarray(0, -10)
}

test.concurrent('a body ends with its length, with its last chunk, or with the connection', async ({
  onTestFinished,
}) => {
  const surplus = `${response('200 OK', [], file)}more`
  const chunked = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${file.length.toString(16)}\r\n${file}\r\n0\r\n\r\n`
  for (const text of [surplus, chunked, `HTTP/1.1 200 OK\r\n\r\n${file}`]) {
    const { url } = await serve(onTestFinished, (socket) => void socket.end(text))
    expect(await textOf(await get(url))).toBe(file)
  }
})

test.concurrent.for([
  'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 2\r\n\r\nabc',
  'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\nabc',
  'HTTP/1.1 2x0 OK\r\n\r\n',
  'SSH-2.0-OpenSSH_9.2\r\n\r\n',
  `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`,
  'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'.repeat(3000),
])('%.60j is not HTTP that can be read', async (text, { onTestFinished }) => {
  const { url } = await serve(onTestFinished, reply(text))
  expect(await get(url)).toEqual(failed('refused'))
})

const limits = { maxBytes: 100_000 }

test.concurrent('a body may have as many bytes as are allowed, and not one more', async ({
  onTestFinished,
}) => {
  const answerTo = async (body: Uint8Array) => {
    const { url } = await serve(onTestFinished, reply(response('200 OK', [], body)))
    const text = await textOf(await get(url, limits))
    return typeof text === 'string' ? text.length : text
  }
  expect(await answerTo(Buffer.alloc(100_000))).toBe(100_000)
  expect(await answerTo(Buffer.alloc(100_001))).toEqual(failed('too_large', 200))
})

test.concurrent('what a few bytes decompress to is made only as far as it is read', async ({
  onTestFinished,
}) => {
  const bytes = response('200 OK', ['Content-Encoding: gzip'], gzipSync(Buffer.alloc(50_000_000)))
  const { url } = await serve(onTestFinished, reply(bytes))
  const answer = await get(url, limits)
  const pieces = answer.kind === 'answered' ? answer.content.pieces() : null
  let read = 0
  for await (const piece of pieces ?? []) {
    read += piece.length
    if (read > 400_000) break
  }
  expect({ read, after: await pieces?.next() }).toEqual({
    read: 7 * 65_536,
    after: { done: true, value: undefined },
  })
})

test.concurrent.for([
  ['an endless body', 'HTTP/1.1 200 OK\r\n\r\n', 'x'.repeat(65_536)],
  [
    'chunks without an end',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
    '4\r\nabcd\r\n'.repeat(1000),
  ],
  [
    'chunks of one byte each',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
    '1\r\na\r\n'.repeat(1000),
  ],
  [
    'chunks of one byte with a long extension',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
    `1;x=${'y'.repeat(2000)}\r\na\r\n`,
  ],
] as const)('%s is read up to the limit', async ([, head, piece], { onTestFinished }) => {
  let written = 0
  const { url } = await serve(onTestFinished, (socket) => {
    socket.write(head)
    const more = () => {
      // Only a reader without a limit would get to this bound.
      while (!socket.destroyed && written < 64_000_000) {
        written += piece.length
        if (!socket.write(piece)) return
      }
    }
    socket.on('drain', more)
    more()
  })
  expect(await get(url, limits)).toEqual(failed('too_large', 200))
  // The service read at most 200,000 bytes; the kernel's buffers hold the rest.
  expect(written).toBeLessThan(16_000_000)
})

test.concurrent('an announced length beyond the limit is not read', async ({ onTestFinished }) => {
  const { url } = await serve(onTestFinished, reply('HTTP/1.1 200 OK\r\ncontent-length: 100001\r\n\r\n'))
  expect(await get(url, limits)).toEqual(failed('too_large', 200))
})

test.concurrent('lines without an end after the last chunk end the reading', async ({ onTestFinished }) => {
  const { url } = await serve(onTestFinished, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n')
    const more = () => {
      while (!socket.destroyed && socket.write(`x: ${'y'.repeat(1000)}\r\n`)) {}
    }
    socket.on('drain', more)
    more()
  })
  const answer = await get(url, limits)
  expect(answer.kind === 'failed' && ['refused', 'too_large'].includes(answer.error), answer.kind).toBe(true)
})

test.concurrent('three redirects are followed, and the fourth is a failure', async ({ onTestFinished }) => {
  const { url, requests } = await serve(onTestFinished, (socket, before) => {
    socket.write(before < 3 ? redirect(`/hop/${before}?s=1#x`) : response('200 OK', [], file))
  })
  expect(await textOf(await get(`${url}/start`))).toBe(file)
  expect(requests.map((request) => request.split(' ')[1])).toEqual([
    '/start',
    '/hop/0?s=1',
    '/hop/1?s=1',
    '/hop/2?s=1',
  ])
  const loop = await serve(onTestFinished, reply(redirect('/again', '301 Moved')))
  expect(await get(loop.url)).toEqual(failed('redirect', 301))
  expect(loop.requests).toHaveLength(4)
  const none = await serve(onTestFinished, reply(redirect('/again', '307 T')))
  expect(await get(none.url, { maxRedirects: 0 })).toEqual(failed('redirect', 307))
})

test.concurrent('a redirect asks the next server with the same headers', async ({ onTestFinished }) => {
  const { url, requests } = await serve(onTestFinished, reply(response('200 OK', [], file)))
  for (const status of ['301 M', '302 F', '303 S', '307 T', '308 P']) {
    const first = await serve(onTestFinished, reply(redirect(`${url}/there`, status)))
    expect(await textOf(await get(first.url))).toBe(file)
  }
  expect(requests).toHaveLength(5)
  for (const request of requests) expect(request).toMatch(/^GET \/there HTTP[\s\S]*\r\nx-one: 1\r\n/)
})

test.concurrent.for([
  ['no Location', response('302 Found', [])],
  ['an empty port', redirect('http://:99999/')],
  ['another scheme', redirect('ftp://files.example.com/')],
  ['https from http', redirect('https://127.0.0.1:1/')],
  ['webcal', redirect('webcal://files.example.com/')],
  ['a script', redirect('javascript:alert(1)')],
] as const)('a redirect with %s is a failure', async ([, bytes], { onTestFinished }) => {
  const { url } = await serve(onTestFinished, reply(bytes))
  expect(await get(url)).toEqual(failed('redirect', 302))
})

test.concurrent('a redirect from https to http is a failure, and a redirect keeps the wish of the server to wait', async ({
  onTestFinished,
}) => {
  const plain = await serve(onTestFinished, reply(response('200 OK', [], file)))
  const bytes = response('302 Found', [`Location: ${plain.url}/`, 'Retry-After: 9'])
  const { url } = await serve(onTestFinished, reply(bytes), tls)
  expect(await get(url, { ca })).toEqual({ ...failed('redirect', 302), retryAfterSeconds: 9 })
  expect(plain.requests).toEqual([])
})

test.concurrent('nothing is sent to an address that is not allowed', async ({ onTestFinished }) => {
  const { port, requests } = await serve(onTestFinished, reply(response('200 OK', [], file)), tls)
  const lookup = async () => ['127.0.0.1']
  const strict = { allowsPrivate: false, ca, lookup }
  for (const url of [
    `https://127.0.0.1:${port}/`,
    `https://2130706433:${port}/`,
    `https://[::ffff:127.0.0.1]:${port}/`,
    `https://localhost:${port}/`,
    `https://intranet:${port}/`,
    `https://private.example.com:${port}/`,
    'http://93.184.216.34/',
    'ftp://files.example.com/',
  ])
    expect({ url, ...(await get(url, strict)) }).toEqual({ url, ...failed('address') })
  for (const url of [`https://u@127.0.0.1:${port}/`, `https://u:p@127.0.0.1:${port}/`])
    expect({ url, ...(await get(url, { ca })) }).toEqual({ url, ...failed('address') })
  expect(requests).toEqual([])
})

test.concurrent('no redirect and no name leads from a public server into the private network', async () => {
  const ownFolder = await mkdtemp(join(folder, 'own-network-'))
  const names = ['public', 'moving', 'mixed', 'private'].map((name) => `DNS:${name}.example.com`)
  await makeCertificates(ownFolder, 1, `IP:93.184.216.34,IP:127.0.0.1,${names.join(',')}`)
  const script = `ip link set lo up && ip addr add 93.184.216.34/32 dev lo && exec "$0" "$1" "$2"`
  const program = new URL('own-network.program.ts', import.meta.url).pathname
  const { stdout } =
    await Bun.$`unshare --user --map-root-user --net sh -c ${script} ${process.execPath} ${program} ${ownFolder}`.quiet()
  expect(JSON.parse(stdout.toString())).toEqual({
    outcomes: {
      public: 'a file',
      publicName: 'a file',
      redirectToPublic: 'a file',
      redirectToPrivate: 'address 302',
      redirectToPrivateName: 'address 302',
      redirectToMixedName: 'address 302',
      redirectToLocalhost: 'address 302',
      redirectToMetadata: 'address 302',
      redirectToUserInfo: 'address 302',
      redirectToHttp: 'redirect 302',
      nameThatMoves: 'address 302',
    },
    asked: {
      outside: ['/direct', '/name', '/redirect', '/relative', ...Array(7).fill('/redirect'), '/moving'],
      inside: [],
    },
  })
})

test.concurrent('a certificate must be valid for the name of the address', async ({ onTestFinished }) => {
  const made = await makeFaultyCertificates(await mkdtemp(join(folder, 'faulty-')))
  const lookup = async () => ['127.0.0.1']
  const answerWith = async (pair: ServedPair) => {
    const { port, requests } = await serve(onTestFinished, reply(response('200 OK', [], file)), pair)
    const answer = await get(`https://hooks.example:${port}/`, { ca: made.authority, lookup })
    return { answer: await textOf(answer), requests: requests.length }
  }
  expect(await answerWith(made.sound)).toEqual({ answer: file, requests: 1 })
  const refused = { answer: failed('tls'), requests: 0 }
  expect(await answerWith(made.withoutIntermediate)).toEqual(refused)
  expect(await answerWith(made.selfSigned)).toEqual(refused)
  expect(await answerWith(made.ofOtherAuthority)).toEqual(refused)
  expect(await answerWith(made.ofOtherName)).toEqual(refused)
  expect(await answerWith(made.expired)).toEqual(refused)
  expect(await get(`https://127.0.0.1:${await mailPort(onTestFinished)}/`)).toEqual(failed('tls'))
})

/** Starts a server that speaks first, and not TLS. */
async function mailPort(end: Ending): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}).end('220 mail.example\r\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  end(() => void server.close())
  return (server.address() as { port: number }).port
}

test.concurrent('a server that is not there, closes the connection or has no address has its word', async ({
  onTestFinished,
}) => {
  const { url } = await serve(onTestFinished, (socket) => void socket.destroy())
  expect(await get(url)).toEqual(failed('refused'))
  expect(await get('http://127.0.0.1:1/')).toEqual(failed('refused'))
  const nowhere = async () => {
    throw new Error('ENOTFOUND')
  }
  expect(await get('http://nowhere.example.com/', { lookup: nowhere })).toEqual(failed('dns'))
  expect(await get('http://nowhere.example.com/', { lookup: async () => [] })).toEqual(failed('dns'))
})

const drip = (head: string) => (socket: Socket) => {
  socket.write(head)
  const timer = setInterval(() => socket.write('x'), 20)
  socket.on('close', () => clearInterval(timer))
}

test.concurrent.for([
  ['a name that is never found', null, null],
  ['a server without a response', () => {}, null],
  ['a head that drips', drip('HTTP/1.1 200 OK\r\nx: '), null],
  ['a body that drips', drip('HTTP/1.1 200 OK\r\n\r\n'), 200],
  ['a body that stops', reply('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nBEG'), 200],
] as const)(
  '%s ends with the time limit, and the connection is closed',
  async ([, answer, status], { expect, onTestFinished }) => {
    const { url, sockets } = await serve(onTestFinished, answer ?? (() => {}))
    const named = new URL(url)
    if (!answer) named.hostname = 'slow.example.com'
    const lookup = () => new Promise<string[]>(() => {})
    expect(await get(named.href, { timeoutMilliseconds: 300, lookup })).toEqual(failed('timeout', status))
    await expect.poll(() => sockets.size).toBe(0)
  },
)

test.concurrent('the time limit is one for all redirects together', async ({ onTestFinished }) => {
  const { url, requests } = await serve(onTestFinished, (socket, before) => {
    setTimeout(() => socket.write(redirect(`/${before}`)), 400)
  })
  const answer = await get(url, { timeoutMilliseconds: 1000, maxRedirects: 9 })
  expect(answer).toMatchObject({ kind: 'failed', error: 'timeout' })
  expect(requests.length).toBeLessThanOrEqual(3)
})

test.concurrent('the time limit stands still while a turn is awaited', async ({ onTestFinished }) => {
  const { url } = await serve(onTestFinished, reply(response('200 OK', [], file)))
  const takeTurn = async (): Promise<Turn> => {
    await Bun.sleep(2100)
    return unlimited
  }
  expect(await textOf(await get(url, { timeoutMilliseconds: 2000, takeTurn }))).toBe(file)
})

test.concurrent('each request has a turn at its own origin, which ends with it whatever its outcome', async ({
  onTestFinished,
}) => {
  const events: string[] = []
  const takeTurn = async (origin: string): Promise<Turn> => {
    const note = (what: string) => () => void events.push(`${what} ${new URL(origin).port}`)
    return { ...unlimited, begin: note('begin'), sent: note('sent'), end: note('end') }
  }
  const last = await serve(onTestFinished, (socket) => void socket.destroy())
  const first = await serve(onTestFinished, reply(redirect(`${last.url}/`)))
  expect(await get(first.url, { takeTurn })).toEqual(failed('refused', 302))
  const of = (port: number) => [`begin ${port}`, `sent ${port}`, `end ${port}`]
  expect(events).toEqual([...of(first.port), ...of(last.port)])
  const refusing = async () => {
    throw new Error('No turn')
  }
  await expect(get(first.url, { takeTurn: refusing })).rejects.toThrow('No turn')
})
