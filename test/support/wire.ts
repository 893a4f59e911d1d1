import { connect } from 'node:net'

/** A response as the wire had it. */
export interface WireResponse {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
  body: any
}

/**
 * Sends a request exactly as written, which no HTTP client does: with repeated headers, dot segments or any bytes.
 *
 * @param lines request line and headers without `Host`, `Content-Length` and `Connection`; one byte for each character
 */
export function sendOnWire(url: string, lines: string[], body = ''): Promise<WireResponse> {
  const { hostname, port } = new URL(url)
  const head = [...lines, `Host: ${hostname}`, `Content-Length: ${body.length}`, 'Connection: close']
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.on('data', (data) => {
      received += data.toString()
    })
    socket.on('error', reject)
    socket.on('close', () => {
      const [answered = '', ...parts] = received.split('\r\n\r\n')
      const text = parts.join('\r\n\r\n')
      // A refusal that is sent before the body has been read comes in chunks, because its end has to wait.
      const isChunked = /^transfer-encoding: chunked$/im.test(answered)
      try {
        resolve({
          status: Number(answered.split(' ')[1]),
          body: JSON.parse(isChunked ? joinChunks(text) : text),
        })
      } catch {
        reject(new Error(`Not a JSON response: ${received}`))
      }
    })
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1')
  })
}

/** Returns the text that a chunked body holds. */
function joinChunks(chunked: string): string {
  let joined = ''
  let rest = chunked
  while (true) {
    const start = rest.indexOf('\r\n') + 2
    const length = Number.parseInt(rest, 16)
    if (!length) return joined
    joined += rest.slice(start, start + length)
    rest = rest.slice(start + length + 2)
  }
}
