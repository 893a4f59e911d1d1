import { sequenceModel } from './ids/sequences.ts'
import { schemaVersionModel } from './mongo/server/schema-version.ts'
import { leaseModel } from './mongo/turns/lease.ts'
import { lockModel } from './mongo/turns/locks.ts'
import { jobModel } from './outbox/outbox.ts'
import { secretCheckModel } from './secrets/secret-check.ts'
import { signingKeyModel } from './secrets/signing-keys.ts'
import { developmentSecretModel, storedSecretModel } from './secrets/stored-secret.ts'

/** The models of this neighbourhood's collections. */
export const models = [
  developmentSecretModel,
  jobModel,
  leaseModel,
  lockModel,
  schemaVersionModel,
  secretCheckModel,
  sequenceModel,
  signingKeyModel,
  storedSecretModel,
]
