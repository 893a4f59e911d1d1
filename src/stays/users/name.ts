/**
 * Formats a person's name as web registration does (decisions §4): trimmed, inner spaces collapsed, and
 * title-cased where it was typed all in lower or all in upper case.
 *
 * @example formatName("  o'BRIEN ") // "o'BRIEN": mixed case is somebody's choice
 * @example formatName("O'BRIEN") // "O'Brien"
 */
export function formatName(name: string): string {
  const collapsed = name.trim().replace(/\s+/g, ' ')
  const isOneCase = collapsed === collapsed.toLowerCase() || collapsed === collapsed.toUpperCase()
  return isOneCase ? titleCase(collapsed) : collapsed
}

function titleCase(name: string): string {
  return name
    .toLowerCase()
    .replace(/(^|[\s\-'’.])(\p{Ll})/gu, (_, before: string, letter: string) => before + letter.toUpperCase())
}
