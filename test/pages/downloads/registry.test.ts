import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Json } from '../../../src/pages/docs/schemas.ts'
import { sharedServices, testApp } from '../../support/app.ts'
import { node } from '../../support/command-line.ts'
import { root } from '../../support/processes.ts'

const service = await testApp()
const [one, other] = sharedServices()
const folder = await mkdtemp(join(tmpdir(), 'partner-registry-'))
afterAll(() => rm(folder, { recursive: true }))

async function read(path: string, base = one.url) {
  const response = await fetch(base + path)
  return { status: response.status, bytes: await response.bytes() }
}

const names = ['client', 'partnerctl']
const { 'dist-tags': tags } = (await (await fetch(`${one.url}/npm/@partner-interface/client`)).json()) as Json
/** The version of this build, because this run's database has no release. */
const version: string = tags.latest

test.each(names)('the metadata of %s describes the archive that is served', async (name) => {
  const response = await fetch(`${one.url}/npm/@partner-interface/${name}`)
  const { versions, time, ...metadata } = (await response.json()) as Json
  const { dist, ...manifest } = versions[version]
  const archive = await read(new URL(dist.tarball).pathname)
  const digest = (algorithm: string, form: 'base64' | 'hex') =>
    createHash(algorithm).update(archive.bytes).digest(form)
  expect(metadata).toEqual({ name: `@partner-interface/${name}`, 'dist-tags': { latest: version } })
  expect(Object.keys(versions)).toEqual([version])
  expect(dist).toEqual({
    tarball: `${one.url}/npm/@partner-interface/${name}/-/${name}-${version}.tgz`,
    integrity: `sha512-${digest('sha512', 'base64')}`,
    shasum: digest('sha1', 'hex'),
  })
  // Package managers hold back versions that are younger than a day or have no date.
  expect(time[version]).toBe('1985-10-26T08:15:00.000Z')
  expect(manifest).toMatchObject({ type: 'module', engines: { node: '>=20.3' } })
  for (const field of ['dependencies', 'scripts']) expect(manifest).not.toHaveProperty(field)
})

test.each(names)(
  'the manifest of %s is served alone, by its version and as the latest, as pnpm wants it',
  async (name) => {
    const at = async (path: string) =>
      (await (await fetch(`${one.url}/npm/@partner-interface${path}`)).json()) as Json
    const { versions } = await at(`/${name}`)
    expect(await at(`/${name}/${version}`)).toEqual(versions[version])
    expect(await at(`%2f${name}/latest`)).toEqual(versions[version])
  },
)

test.each([
  { what: 'a lower-case escape', path: '/npm/@partner-interface%2fclient' },
  { what: 'an upper-case escape', path: '/npm/@partner-interface%2Fclient' },
  { what: 'an escape in an archive', path: `/npm/@partner-interface%2Fclient/-/client-${version}.tgz` },
  { what: 'a version', path: `/npm/@partner-interface/client/${version}` },
  { what: 'an escaped name space', path: '/npm/%40partner-interface%2fclient' },
  { what: 'two slashes before npm', path: '//npm/@partner-interface/client' },
  { what: 'four slashes before npm', path: '////npm/@partner-interface/client' },
])('an address with $what is served', async ({ path }) => {
  expect((await read(path)).status).toBe(200)
})

test.each([
  '/npm/@partner-interface/server',
  '/npm/@partner-interface/client/-/client-0.0.1.tgz',
  '/npm/@partner-interface/client/-/partnerctl-1.0.0.tgz',
  '/npm/@partner-interface/client/0.0.1',
  '/npm/@partner-interface/client/next',
  '/npm/@partner-interface/client/-',
  '/npm/is-number',
  '/npm/',
  '//npm/nothing',
  '/downloads/package.json',
])('%s is 404 in the envelope of errors', async (path) => {
  const { status, bytes } = await read(path)
  expect({ status, ...JSON.parse(new TextDecoder().decode(bytes)) }).toMatchObject({
    status: 404,
    error: { type: 'not_found' },
  })
})

test('two processes serve the same bytes, and the checksums are those of the files', async () => {
  const addresses = [
    '/downloads/partnerctl.mjs',
    '/downloads/SHA256SUMS',
    ...names.map((name) => `/npm/@partner-interface/${name}/-/${name}-${version}.tgz`),
  ]
  const sums: Record<string, string> = {}
  for (const path of addresses) {
    const mine = await read(path)
    const theirs = await read(path, other.url)
    expect(Buffer.compare(mine.bytes, theirs.bytes), path).toBe(0)
    const file = path.slice(path.lastIndexOf('/') + 1)
    sums[file] = createHash('sha256').update(mine.bytes).digest('hex')
  }
  const { bytes } = await read('/downloads/SHA256SUMS')
  const listed = new TextDecoder().decode(bytes).trim().split('\n')
  const { SHA256SUMS: _, ...expected } = sums
  expect(Object.fromEntries(listed.map((line) => line.split('  ').reverse()))).toEqual(expected)
})

test('the command line is one file of at most 2 MiB that names no folder of the machine', async () => {
  const { bytes } = await read('/downloads/partnerctl.mjs')
  const text = new TextDecoder().decode(bytes)
  expect(text.slice(0, 20)).toBe('#!/usr/bin/env node\n')
  expect(bytes.length).toBeLessThanOrEqual(2 * 2 ** 20)
  expect(text).not.toContain(root)
  await writeFile(join(folder, 'partnerctl.mjs'), text)
  const { stdout } = Bun.spawnSync([node, join(folder, 'partnerctl.mjs'), '--version'])
  expect(stdout.toString().trim()).toBe(version)
})

test('no address of the packages needs a key or is described in the OpenAPI document', async () => {
  const { body } = await service.send('GET', '/openapi.json')
  expect(Object.keys(body.paths).filter((path) => /npm|downloads/.test(path))).toEqual([])
})
