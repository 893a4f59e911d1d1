import { readFile } from 'node:fs/promises'

export const clientPackageName = 'partner-interface-client.tgz'

/** Where the build of the image leaves what partners download: the tools that make it are not part of the image. */
export const downloadsFolder = new URL('../../../downloads/', import.meta.url)

/** The client as `npm install <address>` takes it: as the build left it, or made now where the compiler is installed. */
export async function loadClientPackage(): Promise<Uint8Array<ArrayBuffer>> {
  const built = await readFile(new URL(clientPackageName, downloadsFolder)).catch(() => null)
  if (built) return new Uint8Array(built)
  const { packClient } = await import('../../../client/scripts/pack.ts')
  return packClient()
}
