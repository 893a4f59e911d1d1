/**
 * Shares one look among all who ask within a time: what anybody may ask for without a key must cost the same however often
 * it is asked for. A look that fails is not shared any longer.
 */
export function share<T>(milliseconds: number, look: () => Promise<T>): () => Promise<T> {
  let last: { at: number; answer: Promise<T> } | undefined
  return () => {
    if (last && performance.now() - last.at <= milliseconds) return last.answer
    const fresh = { at: performance.now(), answer: look() }
    last = fresh
    fresh.answer.catch(() => {
      if (last === fresh) last = undefined
    })
    return fresh.answer
  }
}
