import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** Content that is the same for every client and can be cached, such as a page, a script or a document. */
export interface CachedContent {
  /** Strong entity tag of the uncompressed bytes. */
  etag: string
  /** Responds with the content, or with 304 if the client already has it. */
  respond(request: Request, headers?: Record<string, string>): Promise<Response>
}

/** `Cache-Control` for content that caches may keep forever, because its address changes whenever its bytes do. */
export const immutableCacheControl = 'public, max-age=31536000, immutable'

/** `Cache-Control` for content that caches may keep but must revalidate each time. */
const revalidatedCacheControl = 'no-cache'

const compressors = {
  br: (bytes: Uint8Array) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes),
}
type Encoding = keyof typeof compressors

/**
 * Returns content that is served with an entity tag and in an encoding that the client accepts. The content is
 * compressed once per encoding.
 */
export function cachedContent(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
  cacheControl = revalidatedCacheControl,
): CachedContent {
  const etag = strongTag(bytes)
  const isCompressed = contentType === 'application/gzip'
  const compressed = new Map<Encoding, Promise<Buffer<ArrayBuffer>>>()
  const compress = (encoding: Encoding) => {
    const made = compressed.get(encoding) ?? (compressors[encoding](bytes) as Promise<Buffer<ArrayBuffer>>)
    compressed.set(encoding, made)
    return made
  }
  return {
    etag,
    async respond(request, headers = {}) {
      const encoding = isCompressed ? undefined : encodingFor(request.headers.get('accept-encoding'))
      const common = { ...headers, etag, 'cache-control': cacheControl, vary: 'accept-encoding' }
      if (matches(request.headers.get('if-none-match'), etag))
        return new Response(null, { status: 304, headers: common })
      return new Response(encoding ? await compress(encoding) : bytes, {
        headers: {
          ...common,
          'content-type': contentType,
          ...(encoding ? { 'content-encoding': encoding } : {}),
        },
      })
    },
  }
}

/** Returns a strong entity tag for the content. */
export function strongTag(content: string | Uint8Array): string {
  return `"${new Bun.CryptoHasher('sha256').update(content).digest('base64url').slice(0, 22)}"`
}

/** Returns `br` if the client accepts Brotli, otherwise `gzip` if the client accepts gzip, otherwise undefined. */
function encodingFor(accepted: string | null): Encoding | undefined {
  const names = new Set<string>()
  for (const entry of (accepted ?? '').split(',')) {
    const [name = '', ...parameters] = entry
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/)
    const isRefused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    if (!isRefused) names.add(name)
  }
  return (Object.keys(compressors) as Encoding[]).find((encoding) => names.has(encoding))
}

/** The suffix that a compressing proxy, such as Apache, appends to a tag, and the quote that ends the tag. */
const suffixOfCompression = /[-;](gzip|br|zstd|deflate)"$/

/**
 * Returns true if `If-None-Match` contains the tag; handles lists, weak tags and `*` (RFC 9110, 13.1.2). The suffix of a
 * compressing proxy is ignored (decisions §1). Otherwise, a client behind such a proxy would never get a 304.
 */
export function matches(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false
  const wanted = opaqueTag(etag)
  return ifNoneMatch
    .split(',')
    .map((tag) => tag.trim())
    .some((tag) => tag === '*' || opaqueTag(tag) === wanted)
}

/** Returns a tag in quotes, without the mark of a weak tag and without the suffix of a compressing proxy. */
function opaqueTag(tag: string): string {
  return tag.replace(/^W\//, '').replace(suffixOfCompression, '"')
}
