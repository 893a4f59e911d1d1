import { readFile } from 'node:fs/promises'

export const clientPackageName = 'partner-interface-client.tgz'

/** Folder of the partners' downloads. The image build puts them here because the image lacks the tools to make them. */
export const downloadsFolder = new URL('../../../downloads/', import.meta.url)

/** Loads the client package for `npm install <address>`. If the build made none, packs it with the compiler. */
export async function loadClientPackage(): Promise<Uint8Array<ArrayBuffer>> {
  const built = await readFile(new URL(clientPackageName, downloadsFolder)).catch(() => null)
  if (built) return new Uint8Array(built)
  const { packClient } = await import('../../../client/scripts/pack.ts')
  return packClient()
}
