import { createServer } from 'node:net'

/** Starts an HTTP proxy that forwards nothing: it records the first line of each request, and responds with 502. */
export async function startProxy() {
  const requests: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (bytes) => {
      requests.push(bytes.toString('latin1').split('\r\n', 1)[0] as string)
      socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const url = `http://127.0.0.1:${port}`
  return {
    requests,
    /** The variables that send requests through the proxy. */
    environment: {
      HTTP_PROXY: url,
      HTTPS_PROXY: url,
      http_proxy: url,
      https_proxy: url,
      ALL_PROXY: url,
    },
    stop: () => server.close(),
  }
}
