import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'
import parseLicense from 'spdx-expression-parse'

/**
 * Prints a CycloneDX list of the image's contents: Bun, the runtime packages and, with `--system`, Debian's packages.
 * Runs while the image is built, because the image lacks the tools. The same packages always produce the same list.
 */
const project = dirname(dirname(fileURLToPath(import.meta.url)))
const { FromNodePackageJson, License } = Contrib
const builder = new FromNodePackageJson.Builders.ComponentBuilder(
  new FromNodePackageJson.Factories.ExternalReferenceFactory(),
  new License.Factories.LicenseFactory(parseLicense),
)

/** Components by their package URL; a package that is installed in several places is listed once. */
const components = new Map<string, Models.Component>()

/** Returns the folder in which `importer`, a package's folder, finds the package `name`; undefined if there is none. */
function findPackage(name: string, importer: string): string | undefined {
  const folder = join(importer, 'node_modules', name)
  if (existsSync(join(folder, 'package.json'))) return folder
  return importer === project ? undefined : findPackage(name, dirname(importer))
}

/** Adds a package and, recursively, its runtime dependencies. */
function addPackage(folder: string): Models.Component {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { name, version, dependencies, optionalDependencies } = manifest
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const known = components.get(purl)
  if (known) return known
  const component = builder.makeComponent(manifest)
  if (!component) throw new Error(`${folder} is not a package`)
  component.purl = purl
  component.bomRef.value = purl
  components.set(purl, component)
  for (const imported of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const found = findPackage(imported, folder)
    if (found) component.dependencies.add(addPackage(found).bomRef)
    else if (!optionalDependencies?.[imported]) throw new Error(`${imported} of ${name} is not installed`)
  }
  return component
}

function addOther(type: Enums.ComponentType, name: string, version: string, purl: string): void {
  const component = new Models.Component(type, name, { version, purl, bomRef: purl })
  components.set(purl, component)
}

const service = addPackage(project)
service.type = Enums.ComponentType.Application
components.delete(service.purl as string)
addOther(Enums.ComponentType.Platform, 'bun', Bun.version, `pkg:npm/bun@${Bun.version}`)
if (process.argv.includes('--system')) {
  const fields = ['db:Status-Status', 'Package', 'Version', 'Architecture'].map((field) => `\${${field}}`)
  const format = `${fields.join(' ')}\n`
  const { stdout } = Bun.spawnSync(['dpkg-query', '--show', '--showformat', format])
  for (const line of stdout.toString().trim().split('\n')) {
    const [status, name = '', version = '', architecture] = line.split(' ')
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`
    if (status === 'installed') addOther(Enums.ComponentType.Library, name, version, purl)
  }
}
const bom = new Models.Bom({
  metadata: new Models.Metadata({ component: service }),
  components: new Models.ComponentRepository(components.values()),
})
const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6))
console.log(serializer.serialize(bom, { sortLists: true, space: 1 }))
