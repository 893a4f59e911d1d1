import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { root } from '../support/processes.ts'

test("the image's bill of materials is valid, and lists every package needed at run time and no others", async () => {
  const text = await Bun.$`${process.execPath} bin/make-sbom.ts --system`.cwd(root).text()
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
  expect(await validator.validate(text)).toBe(null)
  const components: { group?: string; name: string; purl: string }[] = JSON.parse(text).components
  const nameOf = ({ group, name }: { group?: string; name: string }) => (group ? `${group}/${name}` : name)
  const listed = new Set(components.filter(({ purl }) => purl.startsWith('pkg:npm/')).map(nameOf))
  expect(Object.keys(packageJson.dependencies).filter((name) => !listed.has(name))).toEqual([])
  expect(Object.keys(packageJson.devDependencies).filter((name) => listed.has(name))).toEqual([])
  expect(listed.has('bun')).toBe(true)
  expect(components.some(({ purl }) => purl.startsWith('pkg:deb/debian/libc6@'))).toBe(true)
})
