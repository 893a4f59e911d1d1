import { join } from 'node:path'

/** Paths of a certificate, of its key and of the test authority's certificate. */
export interface Certificates {
  authority: string
  certificate: string
  key: string
}

/**
 * Creates the files in a folder.
 *
 * @param days how long the certificate is valid from now; it has expired if this is negative
 * @param subject the names or addresses for which it is valid
 */
export async function makeCertificates(
  folder: string,
  days = 1,
  subject = 'IP:127.0.0.1',
): Promise<Certificates> {
  const file = (name: string) => join(folder, name)
  const authority = file('authority.pem')
  const authorityKey = file('authority.key')
  const certificate = file('server.pem')
  const key = file('server.key')
  const request = file('server.csr')
  const names = file('names')
  await Bun.write(names, `subjectAltName=${subject}`)
  await Bun.$`openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ${authorityKey} -out ${authority} -days 1 -subj /CN=authority`.quiet()
  await Bun.$`openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ${key} -out ${request} -subj /CN=server`.quiet()
  await Bun.$`openssl x509 -req -in ${request} -CA ${authority} -CAkey ${authorityKey} -CAcreateserial -out ${certificate} -days ${days} -extfile ${names}`.quiet()
  return { authority, certificate, key }
}
