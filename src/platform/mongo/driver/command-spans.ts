import { Connection } from 'mongodb/lib/cmap/connection.js'
import { currentTrace, inSpan } from '../../../core/trace.ts'

const { command: send } = Connection.prototype

/**
 * Records each command that the driver sends as a span in its caller's trace. The driver's command events, which the
 * metrics use, do not work here because they report a command's end outside its caller's trace.
 */
export function traceCommands(): void {
  Connection.prototype.command = function (namespace, command, ...rest) {
    if (!currentTrace()?.begin) return send.call(this, namespace, command, ...rest)
    // In a command on a collection, the first field's name is the command and its value is the collection's name.
    const [[name, collection] = []] = Object.entries(command)
    const about = typeof collection === 'string' ? ` ${collection}` : ''
    return inSpan(`mongodb ${name}${about}`, () => send.call(this, namespace, command, ...rest))
  }
}
