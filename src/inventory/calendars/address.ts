/** Returns the address at which a calendar is read: `webcal:` is read as `https:`. Null if it is no web address. */
export function readAddress(url: string): URL | null {
  const parsed = URL.parse(url.trim().replace(/^webcal:/i, 'https:'))
  return parsed?.protocol === 'https:' || parsed?.protocol === 'http:' ? parsed : null
}
