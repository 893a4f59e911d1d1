import { dlopen, ptr } from 'bun:ffi'
import { closeSync, openSync, readdirSync } from 'node:fs'

/**
 * Bun cannot close a listening socket without also closing all idle connections, even if a request is just arriving on
 * one of them. Closing the socket also makes the kernel reset connections that are waiting to be accepted. This module
 * therefore closes the socket with system calls and leaves open connections alone. It works on Linux only.
 */

const functions = {
  getsockopt: { args: ['int', 'int', 'int', 'ptr', 'ptr'], returns: 'int' },
  setsockopt: { args: ['int', 'int', 'int', 'ptr', 'u32'], returns: 'int' },
  getsockname: { args: ['int', 'ptr', 'ptr'], returns: 'int' },
  dup2: { args: ['int', 'int'], returns: 'int' },
} as const

const levelSocket = 1
const levelTcp = 6
const attachFilter = 26
const tcpInfo = 11
/** Offset of `tcpi_unacked` in `struct tcp_info`: for a listening socket, the connections that wait to be accepted. */
const unackedOffset = 24
// TCP socket states, as the kernel numbers them.
const established = 1
const closeWait = 8
const listening = 10

/** Packet filter that drops segments without ACK (byte 13 of the TCP header), such as the SYN of a new connection. */
const refuseNew = [
  [0x30, 0, 0, 13],
  [0x45, 0, 1, 0x10],
  [0x06, 0, 0, 0xffffffff],
  [0x06, 0, 0, 0],
] as const

/** Time allowed for handshakes in progress to complete. */
const lastHandshakesMilliseconds = 100
/** The longest that a connection waits for this process to accept it, for example on a busy machine. */
const acceptLimitMilliseconds = 2000
const pollEveryMilliseconds = 10

/** This process's sockets on one port. */
export interface Listener {
  /**
   * Stops accepting new connections, but first accepts the connections whose handshakes are in progress. The kernel
   * refuses later connections or passes them to another process that listens on the same port. Open connections are not
   * affected.
   */
  stopAccepting(): Promise<void>
  /** Returns the number of connected clients. */
  connections(): number
}

/** Returns a port's listener; null if the system is not Linux or has no glibc. */
export function findListener(port: number): Listener | null {
  const system = openSystem()
  if (!system) return null
  const { symbols } = system
  const statesOf = (wanted: number[]) =>
    openFiles().filter((fd) => wanted.includes(stateOf(symbols, fd)) && localPort(symbols, fd) === port)
  return {
    async stopAccepting() {
      const sockets = statesOf([listening])
      for (const fd of sockets) dropNew(symbols, fd)
      await Bun.sleep(lastHandshakesMilliseconds)
      const deadline = performance.now() + acceptLimitMilliseconds
      while (sockets.some((fd) => waitingConnections(symbols, fd) > 0) && performance.now() < deadline) {
        await Bun.sleep(pollEveryMilliseconds)
      }
      const nothing = openSync('/dev/null', 'r')
      // Unlike closing the descriptors, this keeps them valid, so the server can still close them.
      for (const fd of sockets) symbols.dup2(nothing, fd)
      closeSync(nothing)
    },
    connections: () => statesOf([established, closeWait]).length,
  }
}

type Symbols = ReturnType<typeof dlopen<typeof functions>>['symbols']

function openSystem() {
  if (process.platform !== 'linux') return null
  try {
    return dlopen('libc.so.6', functions)
  } catch {
    return null
  }
}

function openFiles(): number[] {
  return readdirSync('/proc/self/fd').map(Number)
}

function stateOf(symbols: Symbols, fd: number): number {
  const info = new Uint8Array(8)
  const size = new Uint32Array([info.length])
  return symbols.getsockopt(fd, levelTcp, tcpInfo, ptr(info), ptr(size)) === 0 ? (info[0] as number) : 0
}

/** Returns how many established connections a listening socket holds that have not been accepted. */
function waitingConnections(symbols: Symbols, fd: number): number {
  const info = new DataView(new ArrayBuffer(28))
  const size = new Uint32Array([info.byteLength])
  const isKnown = symbols.getsockopt(fd, levelTcp, tcpInfo, ptr(info), ptr(size)) === 0
  return isKnown ? info.getUint32(unackedOffset, true) : 0
}

function localPort(symbols: Symbols, fd: number): number {
  const address = new DataView(new ArrayBuffer(128))
  const size = new Uint32Array([address.byteLength])
  return symbols.getsockname(fd, ptr(address), ptr(size)) === 0 ? address.getUint16(2) : 0
}

function dropNew(symbols: Symbols, fd: number): void {
  const program = new DataView(new ArrayBuffer(refuseNew.length * 8))
  for (const [index, [code, onTrue, onFalse, value]] of refuseNew.entries()) {
    program.setUint16(index * 8, code, true)
    program.setUint8(index * 8 + 2, onTrue)
    program.setUint8(index * 8 + 3, onFalse)
    program.setUint32(index * 8 + 4, value, true)
  }
  const header = new DataView(new ArrayBuffer(16))
  header.setUint16(0, refuseNew.length, true)
  header.setBigUint64(8, BigInt(ptr(program)), true)
  symbols.setsockopt(fd, levelSocket, attachFilter, ptr(header), header.byteLength)
}
