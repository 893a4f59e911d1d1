import { defineCommand } from 'citty'
import { readProfiles, writeProfiles } from '../../client/profile.ts'
import { command } from '../../command.ts'
import { UsageError } from '../../errors.ts'
import { print, table } from '../../output.ts'

async function showProfiles(args: { json?: boolean | undefined }): Promise<void> {
  const { current, profiles } = await readProfiles()
  const rows = Object.entries(profiles).map(([name, { base_url, sandbox }]) => ({
    name,
    base_url,
    sandbox,
    current: name === current,
  }))
  print(args, rows, () =>
    table(
      ['NAME', 'ADDRESS', 'SANDBOX', 'CURRENT'],
      rows.map((row) => [row.name, row.base_url, row.sandbox ? 'yes' : 'no', row.current ? '*' : '']),
    ),
  )
}

const name = { type: 'positional', required: true, description: 'Name of the profile' } as const

/** Defines a command that changes an existing profile, and shows the profiles afterwards. */
function changing(
  verb: string,
  description: string,
  example: string,
  change: (profiles: Awaited<ReturnType<typeof readProfiles>>, name: string) => void,
) {
  return command({
    meta: { name: verb, description },
    examples: [example],
    args: { name },
    async run({ args }) {
      const profiles = await readProfiles()
      if (!profiles.profiles[args.name]) throw new UsageError(`There is no profile "${args.name}"`)
      change(profiles, args.name)
      await writeProfiles(profiles)
      await showProfiles(args)
    },
  })
}

const list = command({
  meta: { name: 'list', description: 'List the profiles; keys are not shown' },
  examples: ['partnerctl profiles list'],
  run: ({ args }) => showProfiles(args),
})

const use = changing(
  'use',
  'Make a profile the current one',
  'partnerctl profiles use production',
  (profiles, wanted) => {
    profiles.current = wanted
  },
)

const remove = changing(
  'remove',
  'Delete a profile and its key',
  'partnerctl profiles remove default',
  (profiles, unwanted) => {
    delete profiles.profiles[unwanted]
    if (profiles.current === unwanted) profiles.current = null
  },
)

export const profiles = defineCommand({
  subCommands: { list, use, remove },
})
