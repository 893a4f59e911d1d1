import { readFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { forward } from '../../cli/partner/forward.ts'
import { createClient } from '../../client/src/index.ts'
import { freePort } from '../../src/platform/process.ts'
import { makeCertificates } from '../support/certificates.ts'
import { node, servedFile } from '../support/command-line.ts'
import { wellFormedKey } from '../support/keys.ts'
import { root } from '../support/processes.ts'
import { newFolder } from '../support/tls.ts'

const file = await servedFile()
const runtimes = { Node: [node, file], Bun: [process.execPath, 'cli/main.ts'] }
type Runtime = keyof typeof runtimes

const folders = { trusted: await newFolder(), named: await newFolder(), expired: await newFolder() }
const trusted = await makeCertificates(folders.trusted)
const named = await makeCertificates(folders.named, 1, 'DNS:partners.example.com')
const expired = await makeCertificates(folders.expired, -1)

/** Starts a server with a certificate that answers every request as the service answers `GET /me`. */
async function secureServer({ certificate, key }: { certificate: string; key: string }) {
  let requests = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') },
    fetch: () => {
      requests += 1
      return Response.json({ data: { name: 'Eva' }, meta: {} })
    },
  })
  onTestFinished(() => server.stop(true))
  return { url: `https://127.0.0.1:${server.port}`, requests: () => requests }
}

/** Starts a server that does this with each connection, once it has received something. */
async function rawServer(onData: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => onData(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  return `127.0.0.1:${port}`
}

async function run(runtime: Runtime, args: string[], base: string, environment: Record<string, string> = {}) {
  const child = Bun.spawn([...runtimes[runtime], ...args], {
    cwd: root,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: '/nowhere',
      PARTNER_BASE_URL: base,
      PARTNER_API_KEY: wellFormedKey,
      ...environment,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  onTestFinished(() => child.kill('SIGKILL'))
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, stdout, stderr }
}

/** What a command says about each cause, by the name of the cause. */
const sentences: Record<string, RegExp> = {
  'a refused connection': /: connection refused$/,
  'an unknown host': /: (unknown host|the host name could not be looked up)$/,
  'a certificate of an unknown authority': /: certificate is not trusted: set NODE_EXTRA_CA_CERTS$/,
  'a certificate of another host': /: host name does not match the certificate$/,
  'an expired certificate': /: certificate has expired$/,
  'a server without TLS': /: TLS handshake failed; the address may need http:\/\/$/,
  'a connection that is reset': /: connection reset$/,
}

/** Starts what a cause needs; returns the address and the environment with which it occurs. */
async function provoke(cause: string): Promise<{ base: string; environment?: Record<string, string> }> {
  if (cause === 'a refused connection') return { base: `http://127.0.0.1:${await freePort()}` }
  if (cause === 'an unknown host') return { base: 'http://partners.invalid' }
  if (cause === 'a certificate of an unknown authority') return { base: (await secureServer(trusted)).url }
  if (cause === 'a certificate of another host')
    return {
      base: (await secureServer(named)).url,
      environment: { NODE_EXTRA_CA_CERTS: named.authority },
    }
  if (cause === 'an expired certificate')
    return {
      base: (await secureServer(expired)).url,
      environment: { NODE_EXTRA_CA_CERTS: expired.authority },
    }
  if (cause === 'a server without TLS')
    return { base: `https://${await rawServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))}` }
  return { base: `http://${await rawServer((socket) => socket.resetAndDestroy())}` }
}

const both: Runtime[] = ['Node', 'Bun']

test.each(Object.keys(sentences))('%s is named in the same words in Node and in Bun', async (cause) => {
  const { base, environment } = await provoke(cause)
  for (const runtime of both) {
    const { code, stdout, stderr } = await run(runtime, ['me'], base, environment)
    expect({ runtime, code, stdout }).toEqual({ runtime, code: 1, stdout: '' })
    expect(stderr.split('\n').filter(Boolean)).toEqual([expect.stringMatching(sentences[cause] as RegExp)])
    expect(stderr).toContain(`Cannot reach ${base}/v1: `)
    const checked = await run(runtime, ['doctor', '--json'], base, environment)
    expect({ code: checked.code, findings: JSON.parse(checked.stdout) }).toEqual({
      code: 1,
      findings: [
        { check: 'reach', state: 'failed', detail: expect.stringMatching(sentences[cause] as RegExp) },
      ],
    })
  }
})

test('NODE_EXTRA_CA_CERTS makes the authority of a company trusted, in Node and in Bun', async () => {
  const server = await secureServer(trusted)
  for (const runtime of both) {
    const environment = { NODE_EXTRA_CA_CERTS: trusted.authority }
    const { code, stdout } = await run(runtime, ['me', '--json'], server.url, environment)
    expect({ code, printed: JSON.parse(stdout) }).toEqual({ code: 0, printed: { name: 'Eva' } })
  }
})

test('a poll ends at once if the certificate is not valid, instead of waiting for the end of an outage', async () => {
  const server = await secureServer(trusted)
  for (const runtime of both) {
    const poll = await run(runtime, ['feed', 'poll', '--follow', '--state', '/nowhere/state'], server.url)
    expect({ code: poll.code, stdout: poll.stdout }).toEqual({ code: 1, stdout: '' })
    expect(poll.stderr).toContain('certificate is not trusted: set NODE_EXTRA_CA_CERTS')
    expect(poll.stderr).not.toContain('trying again')
  }
})

test('the keys of another service and the operations of an agent name the cause too', async () => {
  const server = await secureServer(trusted)
  const words = 'certificate is not trusted: set NODE_EXTRA_CA_CERTS'
  const verify = await run('Node', ['certify', 'verify', trusted.certificate], server.url)
  expect(verify.stderr).toContain(words)
  const lines = [
    {
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    },
    { method: 'tools/call', params: { name: 'list_operations', arguments: {} } },
  ]
  const child = Bun.spawn([node, file, 'mcp'], {
    env: { PATH: process.env.PATH ?? '', HOME: '/nowhere', PARTNER_BASE_URL: server.url },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  onTestFinished(() => child.kill('SIGKILL'))
  for (const [id, line] of lines.entries())
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...line })}\n`)
  child.stdin.flush()
  let output = ''
  const decoder = new TextDecoder()
  const reader = child.stdout.getReader()
  while (!output.includes('"id":1')) {
    const { done, value } = await reader.read()
    if (done) break
    output += decoder.decode(value, { stream: true })
  }
  expect(output).toContain(words)
})

test('a hint whose receiver has a bad certificate is tried once, and says why', async () => {
  const server = await secureServer(trusted)
  const receiver = {
    url: server.url,
    secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}`,
    stop: new AbortController().signal,
  }
  const { attempts, status, error } = await forward(receiver, 'booking.changed', 1, '{}')
  expect({ attempts, status, error, requests: server.requests() }).toEqual({
    attempts: 1,
    status: 'failed',
    error: 'certificate is not trusted: set NODE_EXTRA_CA_CERTS',
    requests: 0,
  })
})

test('the client names the cause of a network error, and does not try again after a bad certificate', async () => {
  const server = await secureServer(expired)
  const attempts: unknown[] = []
  const client = createClient({
    key: wellFormedKey,
    baseUrl: server.url,
    retries: 3,
    onRequest: ({ attempt }) => void attempts.push(attempt),
  })
  const failure = await client.host.get().catch((error) => error)
  expect({ attempts, name: failure.name, cause: failure.networkCause, message: failure.message }).toEqual({
    attempts: [1],
    name: 'ConnectionError',
    cause: 'expired',
    message: `${server.url}/v1 cannot be reached: certificate has expired`,
  })
})
