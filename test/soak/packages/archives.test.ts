import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sharedServices } from '../../support/app.ts'
import { pathOfNode } from '../../support/command-line.ts'
import { root } from '../../support/processes.ts'

const [one] = sharedServices()
const folder = await mkdtemp(join(tmpdir(), 'partner-registry-'))
afterAll(() => rm(folder, { recursive: true }))

async function read(path: string, base = one.url) {
  const response = await fetch(base + path)
  return { status: response.status, bytes: await response.bytes() }
}

const names = ['client', 'partnerctl']

test.each(names)('the archive of %s contains the files that npm itself would pack', async (name) => {
  // A build that is not a release has a version of its own (decisions §30), so the registry says where the archive is.
  const metadata = await fetch(`${one.url}/npm/@partner-interface/${name}/latest`)
  const { version } = (await metadata.json()) as { version: string }
  const { bytes } = await read(`/npm/@partner-interface/${name}/-/${name}-${version}.tgz`)
  const files = await new Bun.Archive(bytes).files()
  for (const [path, file] of files) await Bun.write(join(folder, name, path), file)
  const pack = Bun.$`npm pack --dry-run --json`.cwd(join(folder, name, 'package'))
  const packed = (await pack.env({ ...process.env, PATH: pathOfNode }).quiet()).json()
  const expected = packed[0].files.map(({ path }: { path: string }) => `package/${path}`)
  expect([...files.keys()].toSorted()).toEqual(expected.toSorted())
})

test('the bytes depend on no setting, time zone or mask of the process that makes them', async () => {
  const build = Bun.spawn(
    ['sh', '-c', 'umask 077; exec "$0" packages/build.ts "$1"', process.execPath, folder],
    {
      cwd: root,
      env: {
        PATH: process.env.PATH ?? '',
        TZ: 'Asia/Tokyo',
        LANG: 'tr_TR.UTF-8',
        PUBLIC_URL: 'https://other.example',
      },
    },
  )
  expect(await build.exited).toBe(0)
  const made = await readFile(join(folder, 'SHA256SUMS'), 'utf8')
  const { bytes } = await read('/downloads/SHA256SUMS')
  expect(made).toBe(new TextDecoder().decode(bytes))
})
