/** Formats a version as in the contract: `Y-m-d H:i:s`, in UTC. */
export function toVersion(moment: Date): string {
  return moment.toISOString().slice(0, 19).replace('T', ' ')
}

/** Parses a feed time, in UTC. A date alone means `00:00:00` of that day. */
export function parseFeedTime(text: string): Date {
  return new Date(`${text.length === 10 ? `${text} 00:00:00` : text}Z`.replace(' ', 'T'))
}
