import { createHash } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { identifierIn } from '../../../packages/version.ts'
import type { Json } from '../../../src/pages/docs/schemas.ts'
import { type PackageRelease, packageReleaseModel } from '../../../src/pages/downloads/model.ts'
import { addRelease, listReleases } from '../../../src/pages/downloads/store.ts'
import { testApp, testEnvironment } from '../../support/app.ts'
import { makeBuild } from '../../support/builds.ts'
import { ownDatabase } from '../../support/databases.ts'
import { type ServiceProcess, startService } from '../../support/processes.ts'

const environment = { MONGODB_URL: await ownDatabase(), PUBLIC_URL: 'https://partners.example.com' }
const store = await testApp(environment)
const [first, second, unreleased] = await Promise.all([
  makeBuild('1.0.0', 'the first release', true),
  makeBuild('1.0.1', 'the second release', true),
  makeBuild('1.0.1', 'a build that nobody released', false),
])
const names = ['client', 'partnerctl']
const start = ({ main }: { main: string }) => startService(testEnvironment(environment), [], main)

async function read(url: string, path: string) {
  const response = await fetch(url + path)
  return { status: response.status, bytes: await response.bytes(), headers: response.headers }
}

async function metadata(url: string, name: string): Promise<Json> {
  const { bytes } = await read(url, `/npm/@partner-interface/${name}`)
  return JSON.parse(new TextDecoder().decode(bytes)) as Json
}

const versionsAt = async (url: string) => Object.keys((await metadata(url, 'client')).versions)
const stored = async () => (await listReleases(store.live.db)).map(({ version }) => version)
const archivePath = (name: string, version: string) =>
  `/npm/@partner-interface/${name}/-/${name}-${version}.tgz`

// The first release is gone before anybody asks it for a package.
const gone = await start(first)
while ((await stored()).length === 0) await Bun.sleep(30)
await gone.stop()
const running = await Promise.all([second, first, unreleased].map(start))
const [two, one, three] = running as [ServiceProcess, ServiceProcess, ServiceProcess]
afterAll(() => Promise.all(running.map((service) => service.stop())))

/**
 * Waits until both releases are stored and every process lists them, whatever an earlier test has left. All processes
 * are asked each time, because each stores only its own release, and only when it is asked.
 */
async function settle(): Promise<void> {
  const known = { _id: { $in: ['1.0.0', '1.0.1'] } }
  await packageReleaseModel(store.live.db).collection.deleteMany({ $nor: [known] })
  const state = async () => ({
    one: await versionsAt(one.url),
    two: await versionsAt(two.url),
    three: await versionsAt(three.url),
    stored: await stored(),
  })
  await expect.poll(state).toEqual({
    one: ['1.0.0', '1.0.1'],
    two: ['1.0.0', '1.0.1'],
    three: ['1.0.0', unreleased.version, '1.0.1'],
    stored: ['1.0.0', '1.0.1'],
  })
}

function digest(algorithm: string, bytes: Uint8Array, form: 'base64' | 'hex' = 'hex'): string {
  return createHash(algorithm).update(bytes).digest(form)
}

test('a version stays, with its bytes, after the service has gone on, even if nobody asked its process for a package', async () => {
  await settle()
  for (const name of names) {
    const { versions, time, 'dist-tags': tags } = await metadata(two.url, name)
    expect({ versions: Object.keys(versions), tags }).toEqual({
      versions: ['1.0.0', '1.0.1'],
      tags: { latest: '1.0.1' },
    })
    for (const build of [first, second]) {
      const { dist, ...manifest } = versions[build.version]
      const path = archivePath(name, build.version)
      const { status, bytes } = await read(two.url, path)
      expect({ status, sha256: digest('sha256', bytes) }).toEqual({
        status: 200,
        sha256: build.checksums[`${name}-${build.version}.tgz`],
      })
      expect(dist).toEqual({
        tarball: `https://partners.example.com${path}`,
        integrity: `sha512-${digest('sha512', bytes, 'base64')}`,
        shasum: digest('sha1', bytes),
      })
      expect(manifest).toMatchObject({ name: `@partner-interface/${name}`, version: build.version })
      // Package managers hold back versions that are younger than a day or have no date.
      expect(time[build.version]).toBe('1985-10-26T08:15:00.000Z')
    }
  }
})

test('several releases behind one proxy serve the same bytes', async () => {
  await settle()
  const paths = ['/downloads/partnerctl.mjs', '/downloads/SHA256SUMS']
  for (const name of names) {
    paths.push(`/npm/@partner-interface/${name}`)
    for (const { version } of [first, second]) paths.push(archivePath(name, version))
  }
  for (const path of paths) {
    const mine = await read(one.url, path)
    const theirs = await read(two.url, path)
    expect({ status: mine.status, tag: mine.headers.get('etag') }, path).toEqual({
      status: 200,
      tag: theirs.headers.get('etag'),
    })
    expect(Buffer.compare(mine.bytes, theirs.bytes), path).toBe(0)
  }
})

test('metadata must be asked for again each time, so that no package manager misses a release', async () => {
  const { headers } = await read(one.url, '/npm/@partner-interface/client')
  expect(headers.get('cache-control')).toBe('no-cache')
})

test('a development version is served by its own process alone, beside the releases, of which the highest stays the latest', async () => {
  await settle()
  const { versions, 'dist-tags': tags } = await metadata(three.url, 'client')
  expect({ versions: Object.keys(versions), tags }).toEqual({
    versions: ['1.0.0', unreleased.version, '1.0.1'],
    tags: { latest: '1.0.1' },
  })
  expect(unreleased.version).toMatch(/^1\.0\.1-dev\.[0-9a-f]{8}$/)
  const own = archivePath('client', unreleased.version)
  expect({
    own: (await read(three.url, own)).status,
    others: (await read(one.url, own)).status,
    stored: await stored(),
  }).toEqual({ own: 200, others: 404, stored: ['1.0.0', '1.0.1'] })
})

test('the command line and SHA256SUMS of every process are those of the latest release, with the checksums of all releases', async () => {
  await settle()
  for (const { url } of running) {
    const { bytes } = await read(url, '/downloads/partnerctl.mjs')
    const sums = new TextDecoder().decode((await read(url, '/downloads/SHA256SUMS')).bytes)
    const listed = Object.fromEntries(
      sums
        .trim()
        .split('\n')
        .map((line) => line.split('  ').toReversed()),
    )
    const { 'partnerctl.mjs': _, ...archivesOfFirst } = first.checksums
    expect(digest('sha256', bytes)).toBe(second.checksums['partnerctl.mjs'])
    expect(listed).toMatchObject(Object.assign(archivesOfFirst, second.checksums))
  }
})

test('a release that a restore has lost is stored again at the next request', async () => {
  await packageReleaseModel(store.live.db).deleteMany({})
  // A process may still list for a second what it has read before, so what is stored decides.
  const after = (url: string) => async () => ({ listed: await versionsAt(url), stored: await stored() })
  await expect.poll(after(two.url)).toEqual({ listed: ['1.0.1'], stored: ['1.0.1'] })
  const both = ['1.0.0', '1.0.1']
  await expect.poll(after(one.url)).toEqual({ listed: both, stored: both })
})

test('the last 20 releases are kept, in the order of their versions; the process of an earlier one serves its own', async () => {
  await settle()
  const { db } = store.live
  const made = Array.from({ length: 22 }, (_, minor) => `1.${minor + 1}.0`)
  const { collection } = packageReleaseModel(db)
  const release = await collection.findOne<PackageRelease>({ _id: '1.0.1' }, { promoteBuffers: true })
  if (!release) throw new Error('The release is not stored')
  for (const version of made) await addRelease(db, Object.assign(release, { _id: version }))
  expect(await stored()).toEqual(made.slice(2))
  await expect.poll(() => versionsAt(one.url)).toEqual(['1.0.0', ...made.slice(2)])
  expect((await read(one.url, archivePath('client', '1.0.0'))).status).toBe(200)
  expect(await stored()).toEqual(made.slice(2))
})

test('two builds of one version have two versions, and a version is not released twice', async () => {
  const other = await makeBuild('1.0.1', 'another build that nobody released', false)
  expect(other.version).not.toBe(unreleased.version)
  const released = Object.fromEntries([['1.0.1', second.checksums]])
  await Bun.write(`${other.folder}/packages/released.json`, JSON.stringify(released))
  const release = await Bun.$`${process.execPath} packages/release.ts`.cwd(other.folder).quiet().nothrow()
  expect({ code: release.exitCode, said: release.stderr.toString() }).toEqual({
    code: 1,
    said: 'Version 1.0.1 was released with other content: raise the version\n',
  })
  const build = await Bun.$`${process.execPath} packages/build.ts made`.cwd(other.folder).quiet()
  expect(build.stdout.toString()).toContain(other.version)
})

test('a development version never has a number with a leading zero, which SemVer forbids', () => {
  expect([
    identifierIn('0f3a91c2aaaa'),
    identifierIn('12345678aaaa'),
    identifierIn('01234567aaaa'),
    identifierIn('00123456a7aa'),
  ]).toEqual(['0f3a91c2', '12345678', '1234567a', '0123456a'])
})
