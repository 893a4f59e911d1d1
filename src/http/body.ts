import { DomainError, invalidField } from '../errors.ts'

/** How deep objects and arrays of a body may nest; real listings need five levels. */
const maximumDepth = 64

/**
 * Reads a request body as a JSON object, whatever its `Content-Type` (decisions §1).
 *
 * @param maximumBytes refuse more than this, before reading it where the sender told its length
 * @throws DomainError `body_too_large` (413), or `validation` (422) with path `body`
 */
export async function readJsonObject(
  request: Request,
  maximumBytes: number,
): Promise<Record<string, unknown>> {
  const bytes = await readBytes(request, maximumBytes)
  const value = parse(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidField('body', 'The body must be a JSON object')
  }
  return value as Record<string, unknown>
}

async function readBytes(request: Request, maximumBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length')) > maximumBytes) throw tooLarge(maximumBytes)
  if (request.headers.has('content-length')) return new Uint8Array(await request.arrayBuffer())
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > maximumBytes) throw tooLarge(maximumBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function tooLarge(maximumBytes: number): DomainError {
  const message = `The body must be at most ${maximumBytes} bytes`
  return new DomainError('body_too_large', message, [{ path: 'body', code: 'max', message }])
}

function parse(bytes: Uint8Array): unknown {
  if (depthOf(bytes) > maximumDepth) {
    throw invalidField('body', `The body must not nest deeper than ${maximumDepth} levels`)
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw invalidField('body', 'The body must be JSON in UTF-8')
  }
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = Buffer.from(
  '"\\{}[]',
) as unknown as [number, number, number, number, number, number]

/** The deepest nesting of a JSON text, found without recursion: brackets inside strings do not count. */
function depthOf(bytes: Uint8Array): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (inString) {
      if (byte === backslash) at += 1
      else if (byte === quote) inString = false
    } else if (byte === quote) inString = true
    else if (byte === openBrace || byte === openBracket) deepest = Math.max(deepest, ++depth)
    else if (byte === closeBrace || byte === closeBracket) depth -= 1
  }
  return deepest
}
