import { inspect } from 'node:util'

/** Colours text for a terminal. Node 20.3 lacks `styleText`; the caller knows whether there is a terminal. */
export function styled(style: 'bold' | 'cyan' | 'italic' | 'red' | 'underline', text: string): string {
  const [start, end] = inspect.colors[style] ?? [0, 0]
  return `\u001b[${start}m${text}\u001b[${end}m`
}
