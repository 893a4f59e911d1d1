import truncatedWidth from 'fast-string-truncated-width'
import { styled } from '../shared/colours.ts'

/** The fields of a night that are drawn. */
export interface DrawnNight {
  date: string
  left: number | null
}

/** A room type with its nights; all rows cover the same days. */
export interface NightsRow {
  name: string
  nights: DrawnNight[]
}

const maxName = 24
const gap = 2
const month = new Intl.DateTimeFormat('en', { month: 'short', year: 'numeric', timeZone: 'UTC' })

const full = '×'
const open = '·'
const legend = `Units left on each night (${full} full, ${open} open: no range covers the night)`

/** Draws a line for each room type and a cell for each night, in blocks that fit within `width` columns. */
export function drawNights(rows: NightsRow[], width: number): string {
  const dates = rows[0]?.nights.map(({ date }) => date) ?? []
  if (dates.length === 0) return 'The listing has no room types'
  const names = rows.map(({ name }) => shorten(name))
  const label = Math.max(...names.map((name) => widthOf(name))) + gap
  const cell = Math.max(
    3,
    ...rows.flatMap(({ nights }) => nights.map(({ left }) => String(left ?? '').length + 1)),
  )
  const perBlock = Math.max(1, Math.floor((width - label) / cell))
  const blocks: string[] = []
  for (let start = 0; start < dates.length; start += perBlock) {
    const shown = dates.slice(start, start + perBlock)
    const lines = rows.map(({ nights }, index) =>
      drawRow(names[index] as string, label, cell, nights.slice(start, start + perBlock)),
    )
    blocks.push([drawMonths(shown, label, cell), drawDays(shown, label, cell), ...lines].join('\n'))
  }
  return [...blocks, legend].join('\n\n')
}

function widthOf(text: string): number {
  return truncatedWidth(text).width
}

function shorten(name: string): string {
  const { index: end } = truncatedWidth(name, { limit: maxName - 1 })
  return widthOf(name) > maxName ? `${name.slice(0, end)}…` : name
}

/** Draws each month's name above its first night in the block, and omits the year if it does not fit. */
function drawMonths(dates: string[], label: number, cell: number): string {
  let line = ' '.repeat(label)
  for (const [index, date] of dates.entries()) {
    const at = label + index * cell + cell - 3
    const isFirst = index === 0 || date.endsWith('-01')
    const name = month.format(new Date(date))
    const room = index === 0 ? name.length : label + dates.length * cell - at
    const shown = name.length <= room ? name : name.slice(0, 3)
    if (isFirst && (line.length < at || index === 0)) line = line.padEnd(at) + shown
  }
  return line
}

function drawDays(dates: string[], label: number, cell: number): string {
  return ' '.repeat(label) + dates.map((date) => String(Number(date.slice(-2))).padStart(cell)).join('')
}

function drawRow(name: string, label: number, cell: number, nights: DrawnNight[]): string {
  const cells = nights.map(({ left }) => {
    if (left === null) return open.padStart(cell)
    if (left <= 0) return styled('red', full.padStart(cell))
    return String(left).padStart(cell)
  })
  return name + ' '.repeat(label - widthOf(name)) + cells.join('')
}
