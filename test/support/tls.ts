import { copyFile, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Certificates, makeCertificates } from './certificates.ts'

/** Creates a folder for a certificate's files. */
export const newFolder = () => mkdtemp(join(tmpdir(), 'partner-tls-'))

/** Makes a certificate and its key in a folder of their own. */
export const makePair = async () => makeCertificates(await newFolder())

/** Returns settings that name copies of these files. */
export async function settingsFor({ certificate, key }: Pick<Certificates, 'certificate' | 'key'>) {
  const folder = await newFolder()
  const settings = { TLS_CERT_FILE: join(folder, 'tls.crt'), TLS_KEY_FILE: join(folder, 'tls.key') }
  await Promise.all([copyFile(certificate, settings.TLS_CERT_FILE), copyFile(key, settings.TLS_KEY_FILE)])
  return settings
}

/** Returns the suite on which `openssl s_client` agrees with the server; `none` if the server refuses all of them. */
export async function suiteOf(url: string, ...options: string[]): Promise<string> {
  const address = `127.0.0.1:${new URL(url).port}`
  const { stdout } = await Bun.$`openssl s_client -connect ${address} ${options} < /dev/null`
    .quiet()
    .nothrow()
  const [, suite = ''] = /Cipher is (\S+)/.exec(stdout.toString()) ?? []
  return suite === '(NONE)' ? 'none' : suite
}
