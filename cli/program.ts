import { adminCommands, calendarAdministration, requestAdministration } from './admin/commands.ts'
import { partnerCommands } from './partner/program.ts'
import { type Program, rootOf } from './shared/program.ts'

const administration = { requests: requestAdministration, calendars: calendarAdministration }
const groups = [partnerCommands(() => main, administration), adminCommands]
const main = rootOf(groups)

/** All commands, as the service's installation has them. Only this file knows both roles. */
export const program: Program = {
  main,
  groups,
  async explain(error) {
    // Loaded only after an error, because the modules import the error classes of the service and of the client.
    const { formatServiceError } = await import('./admin/format-error.ts')
    const { formatError } = await import('./partner/format-error.ts')
    return formatServiceError(error) ?? formatError(error)
  },
}
