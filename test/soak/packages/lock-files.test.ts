import { copyFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../src/platform/process.ts'
import { testEnvironment } from '../../support/app.ts'
import { type Build, makeBuild } from '../../support/builds.ts'
import { createDatabase, mongodbUrlOf } from '../../support/databases.ts'
import { type RunningNginx, startNginx } from '../../support/nginx.ts'
import { installPackageManagers } from '../../support/package-managers.ts'
import { type ServiceProcess, startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

/**
 * Partners' lock files across releases (decisions §30), with the package managers themselves: a lock file of 1.0.0
 * against a service at 1.0.1, and installs from builds that share a proxy.
 */
const { folder, managers, makeProject } = await installPackageManagers()
const first = await makeBuild('1.0.0', 'the first release', true)
const second = await makeBuild('1.0.1', 'the second release', true)
const unreleased = await makeBuild('1.0.1', 'a build that nobody released', false)
const installs = 2 * soakFactor

const running = new Set<ServiceProcess>()
const cleanUp: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const service of running) await service.stop()
  for (const clean of cleanUp) await clean()
  await rm(folder, { recursive: true })
})

async function start(build: Build, environment: Record<string, string>): Promise<ServiceProcess> {
  const service = await startService(testEnvironment(environment), [], build.main)
  running.add(service)
  return service
}

const program = `
import { build } from '@partner-interface/client'
console.log(build)
`

/** The service at 1.0.1, and each package manager's project that was made when it was at 1.0.0. */
let url = ''
const projects = new Map<string, string>()

beforeAll(async () => {
  await createDatabase('locks')
  const PORT = String(await freePort())
  const environment = { MONGODB_URL: mongodbUrlOf('locks'), PORT }
  const earlier = await start(first, environment)
  url = earlier.url
  for (const { name, add, prefix, settings } of managers) {
    const { project, execute } = await makeProject(settings(url))
    const wanted = ['client', 'partnerctl'].map((one) => `${prefix}@partner-interface/${one}`)
    expect({ name, ...(await execute([...add, ...wanted])) }).toMatchObject({ exitCode: 0, output: '' })
    projects.set(name, project)
  }
  await earlier.stop()
  await start(second, environment)
})

test.each(managers)(
  '$name installs from a lock file of 1.0.0, and a wanted 1.0.0, from a service at 1.0.1',
  async ({ name, add, prefix, installLocked, lockFile, run, settings }) => {
    for (let round = 0; round < installs; round += 1) {
      const locked = await makeProject(settings(url))
      for (const file of ['package.json', lockFile])
        await copyFile(join(projects.get(name) ?? '', file), join(locked.project, file))
      expect(await locked.execute(installLocked)).toMatchObject({ exitCode: 0, output: '' })
      await writeFile(join(locked.project, 'program.js'), program)
      expect((await locked.execute([...run, 'program.js'])).stdout).toBe('the first release\n')
      await rm(locked.project, { recursive: true })
    }

    const wanted = await makeProject(settings(url))
    const added = await wanted.execute([...add, `${prefix}@partner-interface/client@1.0.0`])
    expect(added).toMatchObject({ exitCode: 0, output: '' })
    await writeFile(join(wanted.project, 'program.js'), program)
    expect((await wanted.execute([...run, 'program.js'])).stdout).toBe('the first release\n')
  },
)

/** Starts the builds behind one proxy, which is the address that they name. */
async function startBehindNginx(): Promise<RunningNginx> {
  await createDatabase('proxied')
  const ports = [await freePort(), await freePort(), await freePort()]
  // The address of the proxy is known once it runs, and it runs once somebody answers it.
  const placeholders = ports.map((port) =>
    Bun.serve({ hostname: '127.0.0.1', port, fetch: () => new Response() }),
  )
  const nginx = await startNginx(ports)
  cleanUp.push(nginx.stop)
  await Promise.all(placeholders.map((server) => server.stop(true)))
  const environment = { MONGODB_URL: mongodbUrlOf('proxied'), PUBLIC_URL: nginx.url }
  for (const [index, build] of [first, second, unreleased].entries()) {
    const service = await start(build, { ...environment, PORT: String(ports[index]) })
    const listed = async () => (await fetch(`${service.url}/npm/@partner-interface/client`)).text()
    await expect.poll(listed).toContain('client-1.0.0.tgz')
  }
  for (const service of running)
    await expect
      .poll(async () => (await fetch(`${service.url}/npm/@partner-interface/client`)).text())
      .toContain('client-1.0.1.tgz')
  return nginx
}

test('every install from two releases and a development build behind one proxy gets the later release', async () => {
  const nginx = await startBehindNginx()
  const trust = { ...nginx.environment, DENO_CERT: nginx.environment.CURL_CA_BUNDLE ?? '' }
  const outcomes: Record<string, Record<string, number>> = {}
  for (const { name, add, prefix, run, settings } of managers) {
    const counts: Record<string, number> = {}
    for (let round = 0; round < installs; round += 1) {
      const { project, execute } = await makeProject(settings(nginx.url), trust)
      const { exitCode, output } = await execute([...add, `${prefix}@partner-interface/client`])
      await writeFile(join(project, 'program.js'), program)
      const { stdout } = await execute([...run, 'program.js'])
      const outcome = exitCode === 0 ? stdout.trim() : output
      counts[outcome] = (counts[outcome] ?? 0) + 1
      await rm(project, { recursive: true })
    }
    outcomes[name] = counts
  }
  console.log(outcomes)
  expect(outcomes).toEqual(
    Object.fromEntries(managers.map(({ name }) => [name, { 'the second release': installs }])),
  )
})
