import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './processes.ts'

/** A release of the future: this one, with some of what its files export replaced. */
export interface NextRelease {
  /** Its `src/main.ts`. */
  main: string
  /** Its `cli/main.ts`. */
  cli: string
  remove(): Promise<void>
}

/** An export of a file, and the declaration that replaces it; there the export of now is called `earlier`. */
export interface Replacement {
  file: string
  name: string
  /** Imports, and the declaration of `name`. */
  declaration: string
}

/** What a release is made of. */
export const parts = [
  'src',
  'cli',
  'client',
  'bin',
  'fixtures',
  'package.json',
  'tsconfig.json',
  'CHANGELOG.md',
]

/** A copy of the project that uses the packages of this one; what is listed is copied. */
export async function copyProject(names: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-copy-'))
  for (const name of names) await cp(join(root, name), join(folder, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/**
 * Makes a copy of the sources with some exports replaced: only names that other files import are relied on.
 *
 * @throws Error when a file does not export a name
 */
export async function makeNextRelease(replacements: Replacement[]): Promise<NextRelease> {
  const folder = await copyProject(parts)
  for (const { file, name, declaration } of replacements) {
    const source = await readFile(join(folder, file), 'utf8')
    const exported = new RegExp(`^export ((?:async )?function|const) ${name}\\b`, 'm')
    if (!exported.test(source)) throw new Error(`${file} does not export "${name}"`)
    const renamed = source.replace(exported, `$1 ${name}Earlier`)
    await writeFile(
      join(folder, file),
      `${renamed}\n${declaration.replaceAll('earlier', `${name}Earlier`)}\n`,
    )
  }
  return {
    main: join(folder, 'src/main.ts'),
    cli: join(folder, 'cli/main.ts'),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
