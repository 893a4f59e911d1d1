/** The moment of an id, in digits that sort as time does. */
export function momentPart(at: Date): string {
  return at.getTime().toString(36).padStart(9, '0')
}

/** A new id for a request: ids sort by arrival, and no two are the same. */
export function entryId(at: Date): string {
  return `${momentPart(at)}${crypto.randomUUID().replaceAll('-', '').slice(0, 16)}`
}
