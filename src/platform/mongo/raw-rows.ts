import mongoose from 'mongoose'

const { parseToElements, NumberUtils, ByteUtils } = mongoose.mongo.BSON.onDemand
const types = { double: 1, text: 2, moment: 9, nothing: 10, integer: 16 } as const

/** Value of a column that {@link rowReader} can read. */
type Value = number | string | Date | null

/**
 * Returns a function that reads a row from the bytes that a `raw` query returns. The driver's own decoder takes four
 * times as long, which would be a third of the cost of a feed page.
 *
 * @param columns the fields that the query projects; no two may share both their length and their first letter, by
 *   which the function tells them apart
 */
export function rowReader<Row extends { [Column in keyof Row]: Value }>(
  columns: (keyof Row & string)[],
): (bytes: Uint8Array) => Row {
  const byShape = new Map(columns.map((column) => [shapeOf(column.length, column.charCodeAt(0)), column]))
  if (byShape.size < columns.length) throw new Error('Two columns share their length and first letter')
  return (bytes) => {
    const row: Record<string, Value> = {}
    for (const [type, nameOffset, nameLength, offset, length] of parseToElements(bytes)) {
      const column = byShape.get(shapeOf(nameLength, bytes[nameOffset] as number)) as string
      row[column] = decode(bytes, type, offset, length)
    }
    return row as Row
  }
}

function shapeOf(length: number, firstLetter: number): number {
  return length * 256 + firstLetter
}

function decode(bytes: Uint8Array, type: number, offset: number, length: number): Value {
  switch (type) {
    case types.integer:
      return NumberUtils.getInt32LE(bytes, offset)
    case types.double:
      return NumberUtils.getFloat64LE(bytes, offset)
    case types.moment:
      return new Date(Number(NumberUtils.getBigInt64LE(bytes, offset)))
    case types.text:
      // A string starts with its length in four bytes and ends with a NUL byte.
      return ByteUtils.toUTF8(bytes, offset + 4, offset + length - 1, false)
    case types.nothing:
      return null
    default:
      throw new Error(`A row has a value of BSON type ${type}`)
  }
}
