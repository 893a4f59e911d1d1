import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Glob } from 'bun'
import ts from 'typescript'
import { root } from '../../support/processes.ts'

/**
 * How a defect changes the code below its comment. None of these names anything in the code, so that it can be renamed,
 * moved and rewritten as long as the comment stays above the line that keeps the promise.
 */
export type Edit =
  /** Removes the statement, or the property, element or argument of a list. */
  | 'drop'
  /** Replaces the first condition by `true` or by `false`: that of an `if` or a `?`, or a value that is computed. */
  | 'always'
  | 'never'
  /** Moves the first comparison by one: `<` becomes `<=`, and `>=` becomes `>`. */
  | 'boundary'

/** A place in the sources that keeps a promise. */
export interface Seam {
  /** What would be wrong if the code did not do this: the rest of the comment. */
  what: string
  /** Path from the root of the project. */
  file: string
  source: string
  /** Where the code below the comment begins. */
  start: number
}

/** The words that a reader of the sources needs no explanation for; CONTRIBUTING, "Break a promise on purpose". */
const mark = /^[ \t]*\/\/ If this breaks: (.+)\n\s*/gm

/** Returns the places in the sources that are marked with `// If this breaks: …`. */
export async function findSeams(): Promise<Seam[]> {
  const seams: Seam[] = []
  for (const folder of ['src', 'cli', 'client/src'])
    for await (const path of new Glob(`${folder}/**/*.{ts,tsx}`).scan(root)) {
      const source = await readFile(join(root, path), 'utf8')
      for (const { 0: text, 1: what = '', index } of source.matchAll(mark))
        seams.push({ what, file: path, source, start: index + text.length })
    }
  return seams
}

/**
 * Returns a seam's file with the defect in it.
 *
 * @throws Error if the code below the comment is not of the kind that the edit changes
 */
export function withDefect({ what, file, source, start }: Seam, edit: Edit): string {
  const marked = nodeAt(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true), start)
  const change = marked && changeOf(marked, edit)
  if (!change) throw new Error(`${file}: "${edit}" does not fit the code below "If this breaks: ${what}"`)
  return source.slice(0, change.from) + change.text + source.slice(change.to)
}

/** Text that replaces a part of a file. */
interface Change {
  from: number
  to: number
  text: string
}

/** Returns the largest statement, property or element that begins at a position. */
function nodeAt(file: ts.SourceFile, start: number): ts.Node | undefined {
  const find = (node: ts.Node): ts.Node | undefined => {
    if (node.getStart(file) === start && node !== file) return node
    return ts.forEachChild(node, find)
  }
  return find(file)
}

function changeOf(marked: ts.Node, edit: Edit): Change | undefined {
  if (edit === 'drop') return dropped(marked)
  if (edit === 'boundary') return moved(marked)
  const condition = firstIn(marked, conditionOf)
  return condition && replaced(condition, edit === 'always' ? 'true' : 'false')
}

function replaced(node: ts.Node, text: string): Change {
  return { from: node.getStart(), to: node.getEnd(), text }
}

function dropped(marked: ts.Node): Change {
  if (ts.isStatement(marked)) return replaced(marked, ';')
  const end = marked.getEnd()
  const after = marked.getSourceFile().text.slice(end)
  return { from: marked.getStart(), to: end + (after.match(/^\s*,/)?.[0].length ?? 0), text: '' }
}

const neighbours = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
])

function moved(marked: ts.Node): Change | undefined {
  const comparison = firstIn(marked, (node) => {
    const isComparison = ts.isBinaryExpression(node) && neighbours.has(node.operatorToken.kind)
    return isComparison ? node.operatorToken : undefined
  })
  return comparison && replaced(comparison, neighbours.get(comparison.kind) ?? '')
}

function conditionOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isIfStatement(node)) return node.expression
  if (ts.isConditionalExpression(node)) return node.condition
  const value = ts.isReturnStatement(node) ? node.expression : undefined
  const initial = ts.isVariableDeclaration(node) ? node.initializer : undefined
  const result = value ?? initial
  return result && ts.isBinaryExpression(result) ? result : undefined
}

/** Returns the first result that `find` has for a node or, in the order of the text, for what it contains. */
function firstIn<Found>(node: ts.Node, find: (node: ts.Node) => Found | undefined): Found | undefined {
  return find(node) ?? ts.forEachChild(node, (child) => firstIn(child, find))
}
