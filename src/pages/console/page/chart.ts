import uPlot from 'uplot'
import type { ResponseKind } from '../../../access/requests/kinds.ts'
import { type Bar, kinds } from './traffic.ts'

const height = 220

/**
 * Draws stacked bars, and a dashed line at the number of requests that the rate limit allows per bar.
 *
 * @returns a function that removes the chart
 */
export function drawChart(
  container: HTMLElement,
  bars: Bar[],
  minutesPerBar: number,
  limit: number | undefined,
): () => void {
  const draw = () => {
    const line = (limit ?? 0) * minutesPerBar
    const top = topOf(bars.map(heightOf), line)
    const options = optionsOf(container, minutesPerBar, top, limit !== undefined)
    const chart = new uPlot(options, dataOf(bars, minutesPerBar, limit), container)
    return () => chart.destroy()
  }
  let remove = draw()
  const redraw = () => {
    remove()
    remove = draw()
  }
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  scheme.addEventListener('change', redraw)
  let width = container.clientWidth
  const sizes = new ResizeObserver(() => {
    if (container.clientWidth === width) return
    width = container.clientWidth
    redraw()
  })
  sizes.observe(container)
  return () => {
    sizes.disconnect()
    scheme.removeEventListener('change', redraw)
    remove()
  }
}

/** The kinds in drawing order. The tallest bars come first because shorter bars are drawn over them. */
const drawn = [...kinds].reverse()

function heightOf(bar: Bar): number {
  return kinds.reduce((sum, { kind }) => sum + bar[kind], 0)
}

function dataOf(bars: Bar[], minutesPerBar: number, limit: number | undefined): uPlot.AlignedData {
  const upTo = (kind: ResponseKind) => kinds.slice(0, kinds.findIndex((one) => one.kind === kind) + 1)
  const stacked = drawn.map(({ kind }) =>
    bars.map((bar) => upTo(kind).reduce((sum, { kind: below }) => sum + bar[below], 0)),
  )
  const line = bars.map(() => (limit ?? 0) * minutesPerBar)
  return [bars.map(({ at }) => at), ...stacked, ...(limit === undefined ? [] : [line])]
}

/** How much higher than the highest bar the limit may be, so that the bars can still be seen beside it. */
const mostAboveBars = 4

/**
 * Returns the top of the axis: above the highest bar, and above the limit unless it is so high that no bar could be
 * seen. The line of such a limit lies outside the chart, and the legend has its number.
 */
function topOf(heights: number[], line: number): number {
  const highest = Math.max(1, ...heights)
  const isLineShown = line <= highest * mostAboveBars
  return (isLineShown ? Math.max(highest, line) : highest) * 1.1
}

function optionsOf(
  container: HTMLElement,
  minutesPerBar: number,
  top: number,
  hasLimit: boolean,
): uPlot.Options {
  const bars = uPlot.paths.bars?.({ size: [0.8, 40] })
  const axis = {
    stroke: colorOf('axis'),
    grid: { stroke: colorOf('grid'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: container.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      // The axis extends half a bar's width beyond both ends.
      x: { range: (_, first, last) => [first - minutesPerBar * 30, last + minutesPerBar * 30] },
      y: { range: () => [0, top] },
    },
    axes: [
      { ...axis, values: (_, moments) => moments.map(showHour) },
      { ...axis, size: 56, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000] },
    ],
    series: [
      {},
      ...drawn.map(({ kind }) => ({
        fill: colorOf(kind),
        width: 0,
        points: { show: false },
        ...(bars ? { paths: bars } : {}),
      })),
      ...(hasLimit ? [{ stroke: colorOf('limit'), width: 1.5, dash: [6, 4], points: { show: false } }] : []),
    ],
  }
}

const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

function showHour(seconds: number): string {
  return hour.format(new Date(seconds * 1000))
}

/** Returns one of the style sheet's colours in the current colour scheme. */
function colorOf(name: ResponseKind | 'axis' | 'grid' | 'limit'): string {
  const probe = document.createElement('span')
  probe.className = `swatch ${name}`
  document.body.append(probe)
  const { backgroundColor } = getComputedStyle(probe)
  probe.remove()
  return backgroundColor
}
