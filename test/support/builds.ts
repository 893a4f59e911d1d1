import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { copyProject, parts } from './next-release.ts'

/** A copy of the project as another build of it. */
export interface Build {
  folder: string
  /** Path of its `src/main.ts`. */
  main: string
  /** Version of its packages. */
  version: string
  /** Checksums of what partners download from it, by file name. */
  checksums: Record<string, string>
}

/**
 * Makes a build of its own, whose packages have other content than those of every other build.
 *
 * @param version the version in its `package.json`
 * @param content text that is added to the packages
 * @param isReleased true to release the packages
 */
export async function makeBuild(version: string, content: string, isReleased: boolean): Promise<Build> {
  const folder = await copyProject([...parts, 'packages', 'docs'])
  await edit(join(folder, 'package.json'), (text) =>
    text.replace(/"version": "[^"]+"/, `"version": "${version}"`),
  )
  await edit(join(folder, 'client/src/index.ts'), (text) => `${text}\nexport const build = '${content}'\n`)
  await edit(join(folder, 'docs/guide/21-command-line.md'), (text) => `${text}\n${content}\n`)
  await writeFile(join(folder, 'packages/released.json'), '{}\n')
  if (isReleased) await Bun.$`${process.execPath} packages/release.ts`.cwd(folder).quiet()
  // As in an image; otherwise, each of its processes would make the packages once more.
  const made = join(folder, 'downloads')
  await Bun.$`${process.execPath} packages/build.ts ${made}`.cwd(folder).quiet()
  const manifest = JSON.parse(await readFile(join(made, 'client.json'), 'utf8'))
  const lines = (await readFile(join(made, 'SHA256SUMS'), 'utf8')).trim().split('\n')
  return {
    folder,
    main: join(folder, 'src/main.ts'),
    version: manifest.version,
    checksums: Object.fromEntries(lines.map((line) => line.split('  ').toReversed())),
  }
}

async function edit(path: string, change: (text: string) => string): Promise<void> {
  await writeFile(path, change(await readFile(path, 'utf8')))
}
