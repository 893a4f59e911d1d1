// biome-ignore lint/suspicious/noExplicitAny: walks listings of any shape
type Tree = any

/**
 * Returns the listing that a read must show for the sent listing. The partner's ids of room types and rooms become
 * `original_id`; their new ids, which are integers, are taken from the same places in `read`.
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
