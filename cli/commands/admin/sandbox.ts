import { defineCommand } from 'citty'
import { models } from '../../../src/process/release.ts'
import { clearAllSandboxes, sandboxDatabase } from '../../../src/sandbox/store.ts'
import { command } from '../../command.ts'
import { confirm, yesArgument } from '../../confirm.ts'
import { print } from '../../output.ts'
import { type Act, administer } from './administer.ts'

const clear = command({
  meta: { name: 'clear', description: 'Clear the sandboxes of all keys' },
  examples: ['partnerctl sandbox clear --yes'],
  args: yesArgument,
  async run({ args }) {
    await confirm(args, 'All sandboxes will be cleared.')
    const clearAll = ({ db, clock }: Act) => clearAllSandboxes({ db: sandboxDatabase(db), clock, models })
    const cleared = await administer('sandbox clear', 'all sandboxes', clearAll, { record: 'upfront' })
    print(args, { cleared }, () => `${cleared} sandboxes were cleared`)
  },
})

export const sandbox = defineCommand({
  subCommands: { clear },
})
