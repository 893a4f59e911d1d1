/** Formats a version as the contract specifies: `Y-m-d H:i:s`, in UTC. */
export function toVersion(moment: Date): string {
  const seconds = Math.floor(moment.getTime() / 1000)
  const day = Math.floor(seconds / daySeconds)
  // Consecutive versions usually fall on the same day, and formatting a date costs more than the rest of a feed item.
  if (day !== lastDay) {
    lastDay = day
    lastDate = moment.toISOString().slice(0, 10)
  }
  const time = seconds - day * daySeconds
  return `${lastDate} ${two(Math.floor(time / 3600))}:${two(Math.floor(time / 60) % 60)}:${two(time % 60)}`
}

const daySeconds = 86_400
let lastDay = Number.NaN
let lastDate = ''

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value)
}

/** Parses a feed time, in UTC. A date without a time means `00:00:00`. */
export function parseFeedTime(text: string): Date {
  return new Date(`${text.length === 10 ? `${text} 00:00:00` : text}Z`.replace(' ', 'T'))
}
