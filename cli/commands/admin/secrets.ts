import { defineCommand } from 'citty'
import { reencryptProviderKeys } from '../../../src/access/provider-keys/store.ts'
import { reencryptWebhookSecrets } from '../../../src/changes/webhooks/store.ts'
import { reencryptAll } from '../../../src/platform/secrets/secret-box.ts'
import { moveSecretCheck } from '../../../src/platform/secrets/secret-check.ts'
import { signingKeyModel } from '../../../src/platform/secrets/signing-keys.ts'
import { storedSecretModel } from '../../../src/platform/secrets/stored-secret.ts'
import { openSecrets } from '../../../src/process/open.ts'
import { sandboxDatabase } from '../../../src/sandbox/store.ts'
import { command } from '../../command.ts'
import { UsageError } from '../../errors.ts'
import { print } from '../../output.ts'
import { type Act, administer } from './administer.ts'

const rotate = command({
  meta: {
    name: 'rotate',
    description: 'Re-encrypt stored secrets under SECRET_KEY; the previous one is in OTHER_SECRET_KEYS',
  },
  examples: ['SECRET_KEY=… OTHER_SECRET_KEYS=… partnerctl secrets rotate'],
  async run({ args }) {
    if (!process.env.SECRET_KEY)
      throw new UsageError('Set SECRET_KEY to the new secret and OTHER_SECRET_KEYS to the previous one')
    const rotateAll = async ({ db, clock, config }: Act) => {
      const secrets = await openSecrets(config, db)
      let count = await reencryptProviderKeys(db, clock, secrets)
      for (const each of [db, sandboxDatabase(db)]) count += await reencryptWebhookSecrets(each, secrets)
      for (const model of [signingKeyModel(db), storedSecretModel(db)]) await reencryptAll(model, secrets)
      await moveSecretCheck(db, secrets)
      return count
    }
    const reencrypted = await administer('secrets rotate', 'provider keys', rotateAll, { record: 'upfront' })
    print(args, { reencrypted }, () => `${reencrypted} provider keys were re-encrypted`)
  },
})

export const secrets = defineCommand({
  subCommands: { rotate },
})
