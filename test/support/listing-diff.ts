// biome-ignore lint/suspicious/noExplicitAny: walks listings of any shape
type Tree = any

/**
 * Returns a listing as sent, with the partner's own ids of room types and rooms replaced by the integers that the read
 * shows in the same places. Everything else must be equal.
 */
export function asRead(sent: Tree, read: Tree): Tree {
  return {
    ...sent,
    room_types: sent.room_types.map((roomType: Tree, index: number) => {
      const known = read.room_types[index]
      const rooms = roomType.rooms.map((room: Tree, at: number) => ({
        ...room,
        id: integer(known.rooms[at].id),
        original_id: room.id,
      }))
      return { ...roomType, id: integer(known.id), original_id: roomType.id, rooms }
    }),
  }
}

function integer(id: unknown): number {
  if (!Number.isSafeInteger(id)) throw new Error(`"${id}" is not an integer id`)
  return id as number
}
