import { expect, test } from 'vitest'
import { seedBooking, testApp } from '../support/app.ts'

const service = await testApp()
const actor = await service.actor()
await seedBooking(actor)
const provider = '/v1/integrations/provider_one'

/** Every kind of content that has an entity tag. */
const tagged = [
  `${provider}/bookings`,
  `${provider}/messages`,
  `${provider}/bookings/digest`,
  '/sandbox/integrations/provider_one/bookings',
  '/openapi.json',
  '/docs/changelog',
  '/guide/errors.md',
  '/console',
  '/downloads/SHA256SUMS',
  '/npm/@partner-interface/client',
]
const suffixes = ['-gzip', ';gzip', '-br', ';br', '-zstd', ';zstd', '-deflate', ';deflate']

test.each(tagged)(
  '%s is 304 for its tag with the suffix of a compressing proxy, weak or strong',
  async (path) => {
    const { headers } = await actor.send('GET', path)
    const [, opaque = ''] = /^(?:W\/)?"(.+)"$/.exec(headers.get('etag') ?? '') ?? []
    const statusOf = async (tag: string) =>
      (await actor.send('GET', path, { headers: { 'if-none-match': tag } })).status
    for (const suffix of suffixes) {
      const tag = `"${opaque}${suffix}"`
      const statuses = { strong: await statusOf(tag), weak: await statusOf(`"x", W/${tag}`) }
      expect({ suffix, ...statuses }).toEqual({ suffix, strong: 304, weak: 304 })
    }
    for (const other of [
      `"${opaque}-lzma"`,
      `"${opaque}gzip"`,
      `"${opaque}"-gzip`,
      `"${opaque}-gzip-br-x"`,
      `"-gzip"`,
    ])
      expect({ other, status: await statusOf(other) }).toEqual({ other, status: 200 })
  },
)
