import { createGzip } from 'node:zlib'
import { expect, test } from 'vitest'
import { root } from '../../support/processes.ts'

/** Compresses as many zeros as are asked for. */
async function zeros(megabytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const stream = createGzip()
  const pieces: Buffer[] = []
  stream.on('data', (piece: Buffer) => pieces.push(piece))
  const megabyte = Buffer.alloc(1024 * 1024)
  for (let count = 0; count < megabytes; count += 1)
    if (!stream.write(megabyte)) await new Promise((resolve) => stream.once('drain', resolve))
  await new Promise((resolve) => stream.end().once('end', resolve))
  return new Uint8Array(Buffer.concat(pieces))
}

const plain = new Uint8Array(2 * 1024 * 1024).fill(120)

test.each([
  ['a file of 2 MiB', async () => plain, {}, { outcome: '200 2097152', megabytes: 64 }],
  [
    'a file of 8 MiB in gzip',
    () => zeros(8),
    { 'content-encoding': 'gzip' },
    { outcome: '200 8388608', megabytes: 64 },
  ],
  [
    '512 MiB in gzip',
    () => zeros(512),
    { 'content-encoding': 'gzip' },
    { outcome: 'too_large', megabytes: 64 },
  ],
] as const)(
  '%s takes little memory four at a time, and no more and more if they follow each other',
  async (_, make, headers, expected) => {
    const body = await make()
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ url }) => (url.endsWith('/small') ? new Response('small') : new Response(body, { headers })),
    })
    const url = `http://127.0.0.1:${server.port}/`
    const program = 'test/soak/platform/outgoing-process.program.ts'
    const { stdout } = await Bun.$`${process.execPath} ${program} ${url} 50`.cwd(root).quiet()
    await server.stop(true)
    const { outcomes, first, all } = JSON.parse(stdout.toString())
    console.log(`${body.length} bytes as sent: ${first} MiB above idle, ${all} MiB in 50 rounds`)
    expect(outcomes).toEqual([expected.outcome])
    expect(first).toBeLessThanOrEqual(expected.megabytes)
    // What is no longer needed is collected a few rounds later.
    expect(all).toBeLessThanOrEqual(256)
  },
)
