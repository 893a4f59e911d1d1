import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, expect, test } from 'vitest'
import { wellFormedKey } from '../support/keys.ts'
import { partnerctl } from '../support/processes.ts'

const folder = await mkdtemp(join(tmpdir(), 'partner-certify-'))
afterAll(() => rm(folder, { recursive: true }))

/** Starts a service that sends the given responses in order, and then repeats the last one. */
function startService(...answers: (() => Response)[]) {
  let asked = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch() {
      const answer = answers[Math.min(asked, answers.length - 1)] as () => Response
      asked += 1
      return answer()
    },
  })
  afterAll(() => server.stop(true))
  return { url: server.url.origin, asked: () => asked }
}

const certification = { id: 1, status: 'passed', profiles: [], seed: '', next: null, cases: [] }

test.concurrent('partnerctl certify status --follow waits out limits, proxies and lost connections', async () => {
  const error = { type: 'rate_limit_error', message: 'Too many requests', request_id: 'r', errors: [] }
  const service = startService(
    () => Response.json({ error }, { status: 429, headers: { 'retry-after': '1' } }),
    () => new Response('<h1>502</h1>', { status: 502 }),
    () => new Response(new ReadableStream({ start: (controller) => controller.error() })),
    () => Response.json({ data: { ...certification, status: 'running' }, meta: {} }),
    () => Response.json({ data: certification, meta: {} }),
  )
  const environment = { PARTNER_BASE_URL: service.url, PARTNER_API_KEY: wellFormedKey }
  const { code } = await partnerctl(['certify', 'status', '--follow', '--id', '1'], environment)
  expect({ code, requests: service.asked() }).toEqual({ code: 0, requests: 5 })
})

test.concurrent('partnerctl certify status exits with 1 when there is no certification', async () => {
  const { url } = startService(() => Response.json({ data: [], meta: {} }))
  const { code } = await partnerctl(['certify', 'status'], {
    PARTNER_BASE_URL: url,
    PARTNER_API_KEY: wellFormedKey,
  })
  expect(code).toBe(1)
})

test.concurrent('partnerctl certify verify takes the keys of the address that it was given, and of no other', async () => {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'forged', alg: 'EdDSA' }
  const forger = startService(() => Response.json({ keys: [jwk] }))
  const redirecting = startService(() => Response.redirect(`${forger.url}/.well-known/jwks.json`, 302))
  const endless = startService(() => new Response(JSON.stringify({ keys: [jwk], more: 'x'.repeat(70_000) })))
  const verify = async (issuer: string) => {
    const report = await new SignJWT({ certification: { profiles: [] } })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'forged' })
      .setIssuer(issuer)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey)
    await writeFile(join(folder, 'report.jws'), report)
    return partnerctl(['certify', 'verify', join(folder, 'report.jws'), '--base-url', issuer], {})
  }
  expect(await verify(redirecting.url)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/302|redirect/),
  })
  expect(forger.asked()).toBe(0)
  expect(await verify(endless.url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('more than 65536 bytes'),
  })
  expect(await verify('http://partners.example.com')).toMatchObject({ code: 2 })
  expect(await verify(forger.url)).toMatchObject({ code: 0 })
})
