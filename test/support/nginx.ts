import { chmod, copyFile, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/platform/process.ts'
import { makeCertificates } from './certificates.ts'
import { root, workersOf } from './processes.ts'

/** A TLS reverse proxy in front of the services. */
export interface RunningNginx {
  url: string
  /** `fetch` that trusts the proxy's certificate. */
  fetch(input: string | Request, init?: RequestInit): Promise<Response>
  /** Environment variables that make curl, Node and Python trust the certificate. */
  environment: Record<string, string>
  /** Returns the names of the temporary files that nginx has open; it unlinks each one as soon as it has opened it. */
  temporaryFiles(): Promise<string[]>
  /** Replaces the certificate while requests are being served; resolves once new connections get the new one. */
  renewCertificate(): Promise<void>
  /** Returns the lines of the request log. */
  logged(): Promise<{ path: string; status: number; request_id: string; refused_by: string }[]>
  /** Returns the text of the error log. */
  errors(): Promise<string>
  stop(): Promise<void>
}

const path = `${process.env.PATH}:/usr/sbin`

/**
 * Writes `deploy/nginx/nginx.conf` into a folder. Only its addresses, ports and paths are adapted to this machine.
 *
 * @param port port that the proxy listens on
 * @param targets ports of the services, or addresses with a port
 * @returns the file's path
 */
export async function writeNginxConfiguration(
  folder: string,
  port: number,
  targets: (number | string)[],
): Promise<string> {
  const shipped = await readFile(join(root, 'deploy/nginx/nginx.conf'), 'utf8')
  const file = join(folder, 'nginx.conf')
  const [server = ''] = /^.*server 127\.0\.0\.1:3001.*\n/m.exec(shipped) ?? []
  const addressOf = (target: number | string) => (typeof target === 'number' ? `127.0.0.1:${target}` : target)
  const servers = targets.map((target) => server.replace('127.0.0.1:3001', addressOf(target))).join('')
  await Bun.write(
    file,
    shipped
      .replace(/( *server 127\.0\.0\.1:300\d .*\n)+/, servers)
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace('listen [::]:443', `listen 127.0.0.9:${port}`)
      .replace(/\/etc\/ssl\/partner-api\/certificate/, `${folder}/server`)
      .replace(/\/etc\/ssl\/partner-api\/key\.pem/, `${folder}/server.key`)
      .replace(/\/run\/|\/var\/log\/nginx\/|\/var\/lib\/nginx\//g, `${folder}/`),
  )
  return file
}

/** Checks a configuration; returns the lines that nginx prints. */
export async function checkNginxConfiguration(file: string): Promise<string[]> {
  const { stderr } = await Bun.$`nginx -t -c ${file} -e /dev/null`.env({ PATH: path }).quiet().nothrow()
  return stderr.toString().trim().split('\n')
}

/** Returns a configuration whose connections to the services end with each request, as those of other proxies do. */
export const withoutKeepAlive = (configuration: string) => configuration.replace('keepalive 32;', '')

/**
 * Returns a configuration with the limits of `deploy/kubernetes/ingress-nginx.yaml` in place of its own. The Ingress
 * controller copies `http-snippet` into `http`, and `server-snippet` into each server.
 */
export async function withLimitsOfIngress(configuration: string): Promise<string> {
  const { data } = Bun.YAML.parse(
    await readFile(join(root, 'deploy/kubernetes/ingress-nginx.yaml'), 'utf8'),
  ) as { data: Record<string, string> }
  const bare = configuration
    .replace(
      / {2}# Polls that may be held have limits[\s\S]*?(?= {2}# Queries, headers and bodies are not)/,
      '',
    )
    .replace(',"refused_by":"$refused_by"', '')
    .replace(/ {4}# Polls of one address that are held[\s\S]*?(?= {4}client_header_timeout)/, '')
    .replace(/ {4}location @too_many[\s\S]*?\n {4}\}\n/, () => data['server-snippet'] ?? '')
    .replaceAll('$refusal_id', '$request_id')
  return bare.replace('  upstream partner_api {', () => `${data['http-snippet']}\n  upstream partner_api {`)
}

/**
 * Starts nginx with the configuration that operators get. It passes requests to these local ports in turn.
 *
 * @param adapt changes the configuration
 */
export async function startNginx(
  targets: (number | string)[],
  adapt: (configuration: string) => string | Promise<string> = (configuration) => configuration,
): Promise<RunningNginx> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-nginx-'))
  // The workers of nginx run under another account.
  await chmod(folder, 0o755)
  const { authority, certificate, key } = await makeCertificates(folder)
  const trusted = [await readFile(authority, 'utf8')]
  const port = await freePort()
  const file = await writeNginxConfiguration(folder, port, targets)
  await Bun.write(file, await adapt(await readFile(file, 'utf8')))
  const child = Bun.spawn(['nginx', '-c', file, '-e', join(folder, 'error.log'), '-g', 'daemon off;'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: path },
  })
  const url = `https://127.0.0.1:${port}`
  const send = (input: string | Request, init?: RequestInit) =>
    fetch(input, { ...init, tls: { ca: trusted } })
  const isUp = () =>
    send(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error('nginx did not start')
    await Bun.sleep(30)
  }
  const served = async () => {
    const reply = await Bun.$`openssl s_client -connect 127.0.0.1:${port} < /dev/null`.quiet()
    return /-----BEGIN CERTIFICATE-----[^-]+/.exec(reply.stdout.toString())?.[0]
  }
  return {
    url,
    fetch: send,
    environment: { CURL_CA_BUNDLE: authority, NODE_EXTRA_CA_CERTS: authority, SSL_CERT_FILE: authority },
    async temporaryFiles() {
      const files: string[] = []
      for (const pid of await workersOf(child.pid))
        for (const fd of await readdir(`/proc/${pid}/fd`)) {
          const file = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')
          if (/\/(body|proxy)\//.test(file)) files.push(file)
        }
      return files
    },
    async renewCertificate() {
      const before = await served()
      const next = await makeCertificates(join(folder, 'next'))
      trusted.push(await readFile(next.authority, 'utf8'))
      await copyFile(next.certificate, certificate)
      await copyFile(next.key, key)
      child.kill('SIGHUP')
      while ((await served()) === before) await Bun.sleep(30)
    },
    async logged() {
      const lines = (await readFile(join(folder, 'access.log'), 'utf8')).split('\n')
      return lines.slice(0, -1).map((line) => JSON.parse(line))
    },
    errors: () => readFile(join(folder, 'error.log'), 'utf8'),
    async stop() {
      child.kill('SIGTERM')
      await child.exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
