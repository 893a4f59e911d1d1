import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/platform/process.ts'

/** A reverse proxy in front of services. */
export interface Proxy {
  url: string
  stop(): Promise<void>
}

/**
 * Starts an `nginx` that passes requests to these local ports in turn. A port that refused a connection is tried again
 * for the next request; by default nginx would skip it for ten seconds.
 *
 * @param keepsAlive whether connections to the ports stay open; otherwise each request opens one
 */
export async function startNginx(ports: number[], keepsAlive: boolean): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-nginx-'))
  const port = await freePort()
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const configuration = `
    daemon off;
    worker_processes 1;
    pid ${folder}/pid;
    error_log ${folder}/error.log;
    events { worker_connections 4096; }
    http {
      access_log off;
      ${kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
      upstream service {
        ${ports.map((target) => `server 127.0.0.1:${target} max_fails=0;`).join(' ')}
        ${keepsAlive ? 'keepalive 32;' : ''}
      }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://service;
          ${keepsAlive ? 'proxy_http_version 1.1; proxy_set_header Connection "";' : ''}
        }
      }
    }`
  await Bun.write(join(folder, 'nginx.conf'), configuration)
  const child = Bun.spawn(['nginx', '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
  })
  const url = `http://127.0.0.1:${port}`
  const isUp = () =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error('nginx did not start')
    await Bun.sleep(30)
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      await child.exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
