import { mongo } from 'mongoose'

const { ByteUtils } = mongo.BSON.onDemand
const { toUTF8 } = ByteUtils

/**
 * Makes the driver decode texts with the runtime's decoder. The driver decodes short texts, such as field names, in a
 * loop that takes three times as long on Bun. Without this, a page of listings would cost 10 % more.
 */
export function decodeTextsQuickly(): void {
  ByteUtils.toUTF8 = (bytes, start, end, fatal) => {
    const text = bytes instanceof Buffer ? bytes.toString('utf8', start, end) : null
    return text === null || (fatal && text.includes('\ufffd')) ? toUTF8(bytes, start, end, fatal) : text
  }
}
