import { defineCommand } from 'citty'
import { clearAllSandboxes, sandboxDatabase } from '../../src/sandbox/store.ts'
import { command } from '../command.ts'
import { confirm, yesArgument } from '../confirm.ts'
import { administer } from '../database.ts'
import { print } from '../output.ts'

const clear = command({
  meta: { name: 'clear', description: 'Clear the sandboxes of all keys' },
  args: yesArgument,
  async run({ args }) {
    await confirm(args, 'All sandboxes will be cleared.')
    await administer('sandbox clear', 'all sandboxes', async ({ db, clock }) => {
      const cleared = await clearAllSandboxes({ db: sandboxDatabase(db), clock })
      print(args, { cleared }, () => `${cleared} sandboxes were cleared`)
    })
  },
})

export const sandbox = defineCommand({
  meta: { name: 'sandbox', description: 'Clear all sandboxes (administrator)' },
  subCommands: { clear },
})
