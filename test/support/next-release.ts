import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './processes.ts'

/** A made-up future release: the current one with some exports replaced. */
export interface NextRelease {
  /** Path of its `src/main.ts`. */
  main: string
  /** Path of its `cli/main.ts`. */
  cli: string
  remove(): Promise<void>
}

/** A file's export and the declaration that replaces it. The declaration can use the current export as `earlier`. */
export interface Replacement {
  file: string
  name: string
  /** Imports, and the declaration of `name`. */
  declaration: string
}

/** The files and folders of a release. */
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

/** Copies the listed files and folders into a new folder that uses this project's packages. */
export async function copyProject(names: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-copy-'))
  for (const name of names) await cp(join(root, name), join(folder, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/**
 * Copies the sources with some exports replaced. Depends only on the exports' names, which other files import.
 *
 * @throws Error if a file does not export the name to replace
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
