import { type Relay, startRelay } from './relay.ts'

/** A command that passes a proxy on its way to the server. */
export interface PassingCommand {
  /** For example `find` or `evalsha`. */
  name: string
  /** The collection of a MongoDB command; empty if it names none. */
  collection: string
  /** The id of a MongoDB request, which is unique in the driver that sent it; 0 for Redis. */
  requestId: number
}

/** Decides when answers may pass a proxy. */
export interface Gate {
  /** Called when a command arrives at the proxy. */
  onCommand?(command: PassingCommand): void
  /**
   * Resolves once an answer may pass. Answers of one connection keep their order in any case.
   *
   * @param command absent for what a server sends without being asked, such as the messages of a Redis channel
   */
  hold(command: PassingCommand | undefined): Promise<void>
}

/** Starts a proxy on loopback that passes commands on at once, and each answer when its gate allows. */
export async function startDelayingProxy(url: string, gate: Gate): Promise<Relay> {
  const protocol = new URL(url).protocol === 'redis:' ? redis : mongodb
  return startRelay(url, (client, upstream) => {
    const waiting: PassingCommand[] = []
    const commands = new Frames(protocol.lengthOf)
    const answers = new Frames(protocol.lengthOf)
    let earlier = Promise.resolve()
    client.on('data', (bytes) => {
      for (const frame of commands.add(bytes as Buffer)) {
        const command = protocol.commandOf(frame)
        waiting.push(command)
        gate.onCommand?.(command)
      }
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      for (const frame of answers.add(bytes as Buffer)) {
        const opened = gate.hold(protocol.takeAnswered(waiting, frame))
        earlier = earlier.then(() => opened).then(() => void client.write(frame))
      }
    })
  })
}

/** Cuts a stream of bytes into messages. */
class Frames {
  private rest: Buffer = Buffer.alloc(0)

  /** @param lengthOf returns the length of the message at the start of the bytes, or null if its end is missing */
  constructor(private readonly lengthOf: (bytes: Buffer) => number | null) {}

  /** Takes the next bytes and returns the messages that are complete. */
  add(bytes: Buffer): Buffer[] {
    this.rest = Buffer.concat([this.rest, bytes])
    const frames: Buffer[] = []
    for (;;) {
      const length = this.lengthOf(this.rest)
      if (length === null) return frames
      frames.push(this.rest.subarray(0, length))
      this.rest = this.rest.subarray(length)
    }
  }
}

interface Protocol {
  lengthOf(bytes: Buffer): number | null
  commandOf(frame: Buffer): PassingCommand
  /** Removes the command that a message answers from those that wait, and returns it. */
  takeAnswered(waiting: PassingCommand[], frame: Buffer): PassingCommand | undefined
}

const headerBytes = 16
const opMsg = 2013
/** In a message, the flags and the kind of its first section come before the document. */
const opMsgDocumentOffset = headerBytes + 5
const bsonString = 2

const mongodb: Protocol = {
  lengthOf(bytes) {
    if (bytes.length < headerBytes) return null
    const length = bytes.readInt32LE(0)
    return length <= bytes.length ? length : null
  },
  commandOf(frame) {
    const requestId = frame.readInt32LE(4)
    // Only the first message of a connection is of an older kind.
    if (frame.readInt32LE(12) !== opMsg) return { name: 'hello', collection: '', requestId }
    const nameOffset = opMsgDocumentOffset + 5
    const nameEnd = frame.indexOf(0, nameOffset)
    const name = frame.toString('latin1', nameOffset, nameEnd)
    if (frame[nameOffset - 1] !== bsonString) return { name, collection: '', requestId }
    const valueLength = frame.readInt32LE(nameEnd + 1)
    const collection = frame.toString('utf8', nameEnd + 5, nameEnd + 4 + valueLength)
    return { name, collection, requestId }
  },
  takeAnswered(waiting, frame) {
    const requestId = frame.readInt32LE(8)
    const index = waiting.findIndex((command) => command.requestId === requestId)
    return index < 0 ? undefined : waiting.splice(index, 1)[0]
  },
}

const redis: Protocol = {
  lengthOf: (bytes) => endOfRedisValue(bytes, 0),
  commandOf(frame) {
    const [, , name = ''] = frame.toString('latin1').split('\r\n', 3)
    return { name: name.toLowerCase(), collection: '', requestId: 0 }
  },
  takeAnswered: (waiting) => waiting.shift(),
}

/** Returns where a value of the Redis protocol (version 2) ends, or null if its end is missing. */
function endOfRedisValue(bytes: Buffer, start: number): number | null {
  const lineEnd = bytes.indexOf('\r\n', start)
  if (lineEnd < 0) return null
  const kind = bytes.toString('latin1', start, start + 1)
  const count = Number(bytes.toString('latin1', start + 1, lineEnd))
  let end: number | null = lineEnd + 2
  if (kind === '$' && count >= 0) {
    end += count + 2
    return end <= bytes.length ? end : null
  }
  if (kind !== '*') return end
  for (let index = 0; index < count && end !== null; index += 1) end = endOfRedisValue(bytes, end)
  return end
}
