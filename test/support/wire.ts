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
      const [answered = '', text = ''] = received.split('\r\n\r\n')
      resolve({ status: Number(answered.split(' ')[1]), body: JSON.parse(text) })
    })
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1')
  })
}
