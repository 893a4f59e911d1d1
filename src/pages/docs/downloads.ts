import { readFile } from 'node:fs/promises'

export const clientPackageName = 'partner-interface-client.tgz'

/** Folder of downloads for partners. The image build puts them here because the image lacks the tools to build them. */
export const downloadsFolder = new URL('../../../downloads/', import.meta.url)

/** Loads the client package for `npm install <address>`. Compiles and packs it if the build did not. */
export async function loadClientPackage(): Promise<Uint8Array<ArrayBuffer>> {
  const built = await readFile(new URL(clientPackageName, downloadsFolder)).catch(() => null)
  if (built) return new Uint8Array(built)
  const { packClient } = await import('../../../client/scripts/pack.ts')
  return packClient()
}
