import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { program } from '../../../cli/partner/program.ts'
import { sharedServices, testApp } from '../../support/app.ts'
import { pathOfNode, servedFile } from '../../support/command-line.ts'
import { everyCommand, invocations } from '../../support/every-command.ts'
import { startReceiver } from '../../support/receiver.ts'

const service = await testApp()
const [server] = sharedServices()

/** The oldest Node that partners may have (decisions §30). */
const oldest = '20.3.0'

test(`every command of the served file that ends by itself runs in Node ${oldest}`, async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-oldest-'))
  await Bun.write(join(folder, 'package.json'), '{"private":true}')
  await Bun.$`npm install --no-audit --no-fund node@${oldest}`
    .env({ ...process.env, PATH: pathOfNode })
    .cwd(folder)
    .quiet()
  const node = join(folder, 'node_modules/node/bin/node')
  expect((await Bun.$`${node} --version`.text()).trim()).toBe(`v${oldest}`)
  const file = await servedFile()
  const receiver = startReceiver(context)
  const actor = await service.actor()
  const other = await service.actor()
  const { environment, of } = await invocations(actor, other, receiver.url)
  const endless = ['listen', 'requests tail']
  const ending = (await everyCommand(program.main)).filter((name) => !endless.includes(name))
  // In their order there, each finds the data that it needs.
  const names = Object.keys(of).filter((name) => ending.includes(name))
  expect(names.toSorted()).toEqual(ending.toSorted())
  const failed: object[] = []
  for (const name of names) {
    const how = of[name]
    const { args = [], stdin = '' } = typeof how === 'object' ? how : { args: ['--help'] }
    const child = Bun.spawn([node, file, ...name.split(' '), ...args], {
      env: { PATH: process.env.PATH ?? '', ...environment, PARTNER_BASE_URL: server.url },
      stdin: new Blob([stdin]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    if (stdout === '') failed.push({ name, code, stderr })
  }
  expect(failed).toEqual([])
})
