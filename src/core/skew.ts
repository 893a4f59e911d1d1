/** A process whose clock differs from the database's by more than this writes nothing (decisions §9). */
export const maxSkewSeconds = 60
