/** A span as the collector received it. */
export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentId: string
  name: string
  /** 1 for work in the process, 2 for the server's side, 3 for the client's side. */
  kind: number
  attributes: Record<string, string | number>
  hasFailed: boolean
  milliseconds: number
}

/** Starts a collector that receives spans over OTLP/HTTP and decodes their protocol buffers. */
export function startCollector(port = 0) {
  const spans: ReceivedSpan[] = []
  const requests: { path: string; headers: Headers; text: string }[] = []
  const resources: Record<string, string | number>[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    async fetch(request) {
      const bytes = Buffer.from(await request.arrayBuffer())
      const { pathname: path } = new URL(request.url)
      requests.push({ path, headers: request.headers, text: bytes.toString('latin1') })
      for (const ofResource of all(bytes, 1)) {
        resources.push(attributesOf(all(ofResource, 1)[0] as Buffer, 1))
        for (const ofScope of all(ofResource, 2)) spans.push(...all(ofScope, 2).map(spanOf))
      }
      return new Response(null, { headers: { 'content-type': 'application/x-protobuf' } })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    requests,
    resources,
    ofTrace: (traceId: string) => spans.filter((span) => span.traceId === traceId),
    stop: () => server.stop(true),
  }
}

/** Decodes the fields that tests use, by their numbers in `opentelemetry/proto/trace/v1/trace.proto`. */
function spanOf(span: Buffer): ReceivedSpan {
  const [status] = all(span, 15)
  const nanoseconds = (number: number) => fieldsOf(span).get(number)?.[0] as bigint
  return {
    traceId: (all(span, 1)[0] as Buffer).toString('hex'),
    spanId: (all(span, 2)[0] as Buffer).toString('hex'),
    parentId: all(span, 4)[0]?.toString('hex') ?? '',
    name: String(all(span, 5)[0]),
    kind: Number(fieldsOf(span).get(6)?.[0]),
    attributes: attributesOf(span, 9),
    hasFailed: status !== undefined && fieldsOf(status).get(3)?.[0] === 2n,
    milliseconds: Number(nanoseconds(8) - nanoseconds(7)) / 1e6,
  }
}

function attributesOf(message: Buffer, number: number): Record<string, string | number> {
  const pairs = all(message, number).map((pair) => {
    const [, [value] = []] = [...fieldsOf(all(pair, 2)[0] as Buffer)][0] ?? []
    return [String(all(pair, 1)[0]), typeof value === 'bigint' ? Number(value) : String(value)]
  })
  return Object.fromEntries(pairs)
}

function all(message: Buffer, number: number): Buffer[] {
  return (fieldsOf(message).get(number) ?? []) as Buffer[]
}

/** Decodes a message: a 64-bit number becomes a bigint, and a string or nested message becomes its bytes. */
function fieldsOf(message: Buffer): Map<number, (bigint | Buffer)[]> {
  const fields = new Map<number, (bigint | Buffer)[]>()
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++] as number
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  while (at < message.length) {
    const tag = Number(varint())
    let value: bigint | Buffer
    if ((tag & 7) === 0) value = varint()
    else {
      const length = [0, 8, -1, 0, 0, 4][tag & 7] as number
      const end = length < 0 ? Number(varint()) : length
      const bytes = message.subarray(at, at + end)
      value = length === 8 ? bytes.readBigUInt64LE() : bytes
      at += end
    }
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value])
  }
  return fields
}
