import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sharedServices } from '../../support/app.ts'
import { installPackageManagers } from '../../support/package-managers.ts'

const [{ url }] = sharedServices()
const { folder, managers, makeProject } = await installPackageManagers()
afterAll(() => rm(folder, { recursive: true }))

const program = `
import { createClient } from '@partner-interface/client'
import isNumber from 'is-number'
console.log(JSON.stringify({ client: typeof createClient, other: isNumber(5) }))
`

test.each(managers)(
  '$name installs both packages with its default settings, beside another dependency',
  async ({ add, prefix, run, settings }) => {
    const { project, execute } = await makeProject(settings(url))
    const manifest = { name: 'shop', private: true, type: 'module', dependencies: { 'is-number': '7.0.0' } }
    await writeFile(join(project, 'package.json'), JSON.stringify(manifest))
    for (const wanted of ['client', 'partnerctl'])
      expect(await execute([...add, `${prefix}@partner-interface/${wanted}`])).toMatchObject({
        exitCode: 0,
        output: '',
      })
    await writeFile(join(project, 'program.js'), program)
    const { stdout } = await execute([...run, 'program.js'])
    expect(stdout).toContain(JSON.stringify({ client: 'function', other: true }))
  },
)

test('npx runs the command line after one line of settings', async () => {
  const { execute } = await makeProject({
    name: '.npmrc',
    text: `@partner-interface:registry=${url}/npm/\n`,
  })
  const metadata = await fetch(`${url}/npm/@partner-interface/partnerctl`)
  const { 'dist-tags': tags } = (await metadata.json()) as { 'dist-tags': { latest: string } }
  const { stdout } = await execute(['npx', '-y', '@partner-interface/partnerctl', '--version'])
  expect(stdout.trim()).toBe(tags.latest)
})
