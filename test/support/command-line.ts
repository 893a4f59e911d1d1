import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundlePartnerctl } from '../../packages/partnerctl.ts'

/** Makes the partners' commands as one file, as partners get it; returns its path. */
export async function servedFile(): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'partnerctl-')), 'partnerctl.mjs')
  await writeFile(file, await bundlePartnerctl())
  return file
}

/** `PATH` without the folder in which `bun --bun` lets the name `node` mean Bun. */
export const pathOfNode = (process.env.PATH ?? '')
  .split(':')
  .filter((folder) => !folder.includes('bun-node'))
  .join(':')

/** Node itself; `NODE_PROGRAM` names another one, such as the oldest that partners may have. */
export const node = process.env.NODE_PROGRAM ?? Bun.which('node', { PATH: pathOfNode }) ?? 'node'

/** True if the tests of the partners' commands run the file that partners get, in Node; the soak does so. */
export const isServedFile = process.env.PARTNERCTL_RUNTIME === 'node'

/** The command that starts the command line, before its arguments: that of the installation in Bun, or the served file. */
export const commandLine: readonly string[] = isServedFile
  ? [node, await servedFile()]
  : [process.execPath, 'cli/main.ts']
