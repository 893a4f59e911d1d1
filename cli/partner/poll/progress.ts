/** Shows the progress of a long sync. */
export interface Progress {
  /** Records that `handled` changes are done and `left` remain. */
  update(handled: number, left: number): void
  stop(): void
}

/** Minimum number of changes for a progress bar. A shorter sync ends before a bar would help. */
const worthShowing = 200

const silent: Progress = { update() {}, stop() {} }

/**
 * Opens a progress bar on standard error that shows count, total, rate, and time left.
 *
 * @param isShown false if there is no terminal or if changes are printed to it
 */
export async function openProgress(isShown: boolean, items: string, verb = 'Syncing'): Promise<Progress> {
  if (!isShown) return silent
  // Loading the package takes longer than an entire poll that finds no changes.
  const { SingleBar } = await import('cli-progress')
  const { drawingStream } = await import('../../shared/package-streams.ts')
  const bar = new SingleBar({
    format: `${verb} {bar} {percentage}% | {value} of {total} ${items} | {rate}/s | {left} left`,
    stream: drawingStream(),
    hideCursor: true,
    clearOnComplete: true,
    fps: 5,
  })
  const start = performance.now()
  let isRunning = false
  const progress: Progress = {
    update(handled, left) {
      const total = handled + left
      if (!isRunning && total < worthShowing) return
      const rate = handled / Math.max(0.001, (performance.now() - start) / 1000)
      const values = { rate: Math.round(rate), left: duration(left / Math.max(rate, 0.001)) }
      if (!isRunning) bar.start(total, handled, values)
      isRunning = true
      bar.setTotal(total)
      bar.update(handled, values)
      if (left === 0) progress.stop()
    },
    stop() {
      if (isRunning) bar.stop()
      isRunning = false
    },
  }
  return progress
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  return seconds < 5400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`
}
