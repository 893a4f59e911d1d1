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

/** Content of the PEM files of a TLS server. */
export interface ServedPair {
  cert: string
  key: string
}

/** Servers' certificates for `hooks.example`, by what is wrong with them. */
export interface FaultyCertificates {
  /** The only trusted authority. It has signed an intermediate one, which has signed all but the self-signed ones. */
  authority: string
  sound: ServedPair
  withoutIntermediate: ServedPair
  selfSigned: ServedPair
  ofOtherAuthority: ServedPair
  ofOtherName: ServedPair
  expired: ServedPair
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Makes the certificates in a folder with openssl, which is how operators make them. */
export async function makeFaultyCertificates(folder: string): Promise<FaultyCertificates> {
  const file = (name: string) => join(folder, name)
  const read = (name: string) => Bun.file(file(name)).text()
  const selfSigned = (name: string, extension: string) =>
    Bun.$`openssl req -x509 ${newKey} -keyout ${file(`${name}.key`)} -out ${file(`${name}.pem`)} -days 1 -subj /CN=${name} -addext ${extension}`.quiet()
  const signed = async (name: string, issuer: string, extension: string, days = 1) => {
    await Bun.write(file(`${name}.extension`), extension)
    await Bun.$`openssl req ${newKey} -keyout ${file(`${name}.key`)} -out ${file(`${name}.csr`)} -subj /CN=${name}`.quiet()
    await Bun.$`openssl x509 -req -in ${file(`${name}.csr`)} -CA ${file(`${issuer}.pem`)} -CAkey ${file(`${issuer}.key`)} -CAcreateserial -out ${file(`${name}.pem`)} -days ${days} -extfile ${file(`${name}.extension`)}`.quiet()
  }
  const isAuthority = 'basicConstraints=critical,CA:true'
  const forHost = (name: string) => `subjectAltName=DNS:${name}`
  await selfSigned('root', isAuthority)
  await selfSigned('foreign', isAuthority)
  await selfSigned('own', forHost('hooks.example'))
  await signed('intermediate', 'root', isAuthority)
  await signed('sound', 'intermediate', forHost('hooks.example'))
  await signed('other', 'intermediate', forHost('other.example'))
  await signed('strange', 'foreign', forHost('hooks.example'))
  // This one ends in the second in which it is made.
  await signed('old', 'intermediate', forHost('hooks.example'), 0)
  while ((await Bun.$`openssl x509 -checkend 0 -in ${file('old.pem')}`.quiet().nothrow()).exitCode === 0)
    await Bun.sleep(50)
  const pair = async (name: string, ...chain: string[]): Promise<ServedPair> => ({
    cert: (await Promise.all([name, ...chain].map((one) => read(`${one}.pem`)))).join(''),
    key: await read(`${name}.key`),
  })
  return {
    authority: await read('root.pem'),
    sound: await pair('sound', 'intermediate'),
    withoutIntermediate: await pair('sound'),
    selfSigned: await pair('own'),
    ofOtherAuthority: await pair('strange', 'foreign'),
    ofOtherName: await pair('other', 'intermediate'),
    expired: await pair('old', 'intermediate'),
  }
}
