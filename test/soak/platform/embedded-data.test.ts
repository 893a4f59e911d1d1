import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openEmbeddedMongod } from '../../../src/platform/mongo/server/embedded.ts'
import { isAlive } from '../../../src/platform/process.ts'
import { keyIn, makeDataDir } from '../../support/embedded.ts'
import { partnerctl } from '../../support/processes.ts'

test.concurrent('the first start prints three commands that work with a demo host, and later starts print no secret', async ({
  onTestFinished,
}) => {
  const { dataDir, start } = await makeDataDir(onTestFinished)
  const first = await start()
  const commands = first
    .output()
    .split('\n')
    .filter((line) => line.startsWith('PARTNER_BASE_URL='))
  expect(commands).toHaveLength(3)
  const results: string[] = []
  for (const command of commands) {
    const child = Bun.spawn(['sh', '-c', command], {
      cwd: new URL('../../..', import.meta.url).pathname,
      env: { PATH: process.env.PATH ?? '', XDG_STATE_HOME: join(dataDir, 'state') },
      stdout: 'pipe',
    })
    results.push(await new Response(child.stdout).text())
    expect(await child.exited).toBe(0)
  }
  expect(results[0]).toContain('Demo host')
  expect(JSON.parse(results[1] as string).data.booking_no).toBe('BK-1')
  expect(results[2]).toContain('pending')
  await first.end('SIGTERM')
  expect(keyIn((await start()).output())).toBeUndefined()
})

test.concurrent('partnerctl without a running service starts and stops mongod itself, but creates no database', async ({
  onTestFinished,
}) => {
  const { dataDir, mongodPid } = await makeDataDir(onTestFinished)
  const list = () => partnerctl(['hosts', 'list', '--json'], { DATA_DIR: dataDir })
  const refused = `There is no database in ${dataDir}: set DATA_DIR or MONGODB_URL as for the service\n`
  const { code, stderr } = await list()
  expect({ code, stderr }).toEqual({ code: 1, stderr: refused })
  expect(await readdir(dataDir)).toEqual([])
  await (await openEmbeddedMongod(dataDir)).close()
  const { stdout } = await list()
  expect(JSON.parse(stdout)).toEqual([])
  expect(isAlive(await mongodPid())).toBe(false)
})

test.concurrent('a server whose starter was killed before it could record the server is taken over', async ({
  onTestFinished,
}) => {
  const { dataDir, mongodPid } = await makeDataDir(onTestFinished)
  const first = await openEmbeddedMongod(dataDir)
  const pid = await mongodPid()
  await rm(join(dataDir, 'mongod.json'))
  const second = await openEmbeddedMongod(dataDir)
  expect({ url: second.url, pid: await mongodPid() }).toEqual({ url: first.url, pid })
  await second.close()
  await first.close()
  expect(isAlive(pid)).toBe(false)
})

test.concurrent('a record in the data folder can name neither a program to run nor a server to join and stop', async ({
  onTestFinished,
}) => {
  const [own, other] = await Promise.all([makeDataDir(onTestFinished), makeDataDir(onTestFinished)])
  const foreign = await openEmbeddedMongod(other.dataDir)
  const foreignPid = await other.mongodPid()
  const [program, planted] = ['evil', 'planted'].map((name) => join(own.dataDir, name)) as [string, string]
  await writeFile(program, `#!/bin/sh\necho ran > ${planted}\n`, { mode: 0o755 })
  await mkdir(join(own.dataDir, 'mongodb'))
  const port = Number(new URL(foreign.url).port)
  for (const pid of [999_999_999, foreignPid]) {
    await writeFile(join(own.dataDir, 'mongod.json'), JSON.stringify({ pid, port, program }))
    const server = await openEmbeddedMongod(own.dataDir)
    expect(server.url).not.toBe(foreign.url)
    const started = await own.mongodPid()
    const environment = await readFile(`/proc/${started}/environ`, 'utf8')
    expect(environment).toBe('')
    await server.close()
    expect({ started: isAlive(started), foreign: isAlive(foreignPid) }).toEqual({
      started: false,
      foreign: true,
    })
  }
  await expect(access(planted)).rejects.toThrow()
  await foreign.close()
  for (const wrong of [99_999_999, -1.5]) {
    await writeFile(join(own.dataDir, 'mongod.json'), JSON.stringify({ pid: 999_999_999, port: wrong }))
    await (await openEmbeddedMongod(own.dataDir)).close()
  }
})
