import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = new URL('../..', import.meta.url).pathname

/** A release of the future: this one with some of its sources changed. */
export interface NextRelease {
  /** Its `src/main.ts`. */
  main: string
  /** Its `cli/main.ts`. */
  cli: string
  remove(): Promise<void>
}

/** In which file what is replaced by what. */
export type Change = [file: string, before: string, after: string]

/**
 * Makes a copy of the sources with some changes.
 *
 * @throws Error when a text to be replaced does not occur exactly once
 */
export async function makeNextRelease(changes: Change[]): Promise<NextRelease> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-next-release-'))
  for (const name of ['src', 'cli', 'bin', 'fixtures', 'package.json', 'tsconfig.json', 'CHANGELOG.md'])
    await cp(join(root, name), join(folder, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [file, before, after] of changes) {
    const source = await readFile(join(folder, file), 'utf8')
    if (source.split(before).length !== 2) throw new Error(`"${before}" does not occur once in ${file}`)
    await writeFile(join(folder, file), source.replace(before, after))
  }
  return {
    main: join(folder, 'src/main.ts'),
    cli: join(folder, 'cli/main.ts'),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
