import { jsonText } from '../../shared/output.ts'

/**
 * Keeps the results of tools short. Without it, one large page would fill an agent's whole context, or its client would
 * cut the text in the middle, so that it is no JSON any more (decisions §27).
 */

/** Maximum length of a result's text, in characters. */
export const maxCharacters = 40_000

/** Member of a tool's outcome that names the arguments that make it smaller; it is not part of the result. */
export const narrowing = Symbol('narrowing')

/** The members of a tool's outcome. */
export type Outcome = Record<string, unknown> & { [narrowing]?: string }

/** A list or an object within an outcome whose last members can be left out. */
interface Container {
  path: string
  value: unknown[] | Record<string, unknown>
  /** Length of its JSON text. */
  length: number
}

/**
 * Returns the text of an outcome. If it would be too long, whole rows of the longest lists are left out, whole sections of
 * Markdown, or members of an object that has no lists, and `left_out` says what is missing and how to get it.
 *
 * @param render returns the text of a result
 */
export function limitedText(outcome: Outcome, render: (outcome: Outcome) => string): string {
  const whole = render(outcome)
  if (whole.length <= maxCharacters) return whole
  const kept = structuredClone<Outcome>(outcome)
  const missing = new Map<string, number>()
  let text = whole
  for (let excess = whole.length - maxCharacters; excess > 0; excess = text.length - maxCharacters) {
    const cut = leaveOut(kept, excess)
    if (cut === undefined) return render({ left_out: noteOn(outcome, new Map([['everything', 1]])) })
    missing.set(cut.path, (missing.get(cut.path) ?? 0) + cut.count)
    text = render({ left_out: noteOn(outcome, missing), ...kept })
  }
  return text
}

function noteOn({ [narrowing]: narrower }: Outcome, missing: Map<string, number>) {
  const narrow = narrower ? `; ask again with ${narrower}` : '; ask for a smaller part'
  const rows = [...missing].map(([path, count]) => ({ path, count }))
  return {
    note: `This result was longer than ${maxCharacters} characters, so the last entries at these paths are missing${narrow}. A next_cursor begins after the entries that are missing`,
    missing: rows.slice(0, 20),
  }
}

/** Leaves out about `excess` characters in one place; undefined if nothing is left that can be left out. */
function leaveOut(outcome: Outcome, excess: number): { path: string; count: number } | undefined {
  if (typeof outcome.markdown === 'string') return leaveOutSections(outcome, outcome.markdown, excess)
  const found = containersIn(outcome, '')
  const lists = found.filter(({ value }) => Array.isArray(value))
  // A list of one row is cut only if nothing else can be: its row may have long lists of its own.
  const cut = longest(lists.filter(({ value }) => value.length !== 1)) ?? longest(lists) ?? longest(found)
  if (cut === undefined) return undefined
  const { path, value } = cut
  const names = Object.keys(value)
  const fewest = names.length > 1 ? 1 : 0
  let count = 0
  for (let left = excess; left > 0 && names.length - count > fewest; count += 1) {
    const name = names[names.length - 1 - count] as string
    left -= jsonText((value as Record<string, unknown>)[name]).length
    if (!Array.isArray(value)) delete value[name]
  }
  if (Array.isArray(value)) value.length -= count
  return { path, count }
}

function leaveOutSections(outcome: Outcome, markdown: string, excess: number) {
  const sections = markdown.split(/^(?=## )/m)
  if (sections.length < 2) return undefined
  let count = 0
  for (let left = excess; left > 0 && sections.length > 1; count += 1) left -= sections.pop()?.length ?? 0
  outcome.markdown = sections.join('')
  return { path: 'markdown (sections)', count }
}

/** Returns the lists and objects within a value that have members. */
function containersIn(value: unknown, path: string): Container[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([name, one]) =>
    containersIn(one, path === '' ? name : `${path}.${name}`),
  )
  if (path === '' || Object.keys(value).length === 0) return inner
  const own = { path, value: value as Container['value'], length: jsonText(value).length }
  return [own, ...inner]
}

function longest(containers: Container[]): Container | undefined {
  return containers.toSorted((one, other) => other.length - one.length)[0]
}
