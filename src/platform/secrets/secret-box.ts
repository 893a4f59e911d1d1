import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { mongo } from 'mongoose'

/** An encrypted value as stored, with the id of the secret that encrypts it. */
export interface Sealed {
  secret_id: string
  /** The nonce, authentication tag and ciphertext, concatenated and encoded as base64. */
  sealed: string
}

interface Keys {
  id: string
  encryption: Buffer
  fingerprint: Buffer
}

const nonceBytes = 12
const tagBytes = 16

/**
 * Encrypts and fingerprints values under `SECRET_KEY`. During a rotation, it also accepts values that were encrypted or
 * fingerprinted under the previous secret, or by other processes under the next secret.
 */
export class SecretBox {
  private readonly current: Keys
  private readonly all: Keys[]

  /** @param others other secrets that stored values may use, such as the previous or next secret during a rotation */
  constructor(secret: string, others: string[] = []) {
    this.current = deriveKeys(secret)
    this.all = [this.current, ...others.map(deriveKeys)]
  }

  /** True if the value is encrypted under one of these secrets. */
  knows({ secret_id }: Pick<Sealed, 'secret_id'>): boolean {
    return this.ids.includes(secret_id)
  }

  /** Ids of these secrets, as found in the `secret_id` of stored values. */
  get ids(): string[] {
    return this.all.map(({ id }) => id)
  }

  /** True if the value is encrypted under the current secret. */
  isCurrent({ secret_id }: Sealed): boolean {
    return secret_id === this.current.id
  }

  /** Encrypts a text under the current secret with AES-256-GCM. */
  seal(text: string): Sealed {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', this.current.encryption, nonce)
    const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    const sealed = Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64')
    return { secret_id: this.current.id, sealed }
  }

  /**
   * Decrypts a value that {@link seal} encrypted.
   *
   * @throws Error if the secret is unknown or the value has been tampered with
   */
  open({ secret_id, sealed }: Sealed): string {
    const keys = this.all.find(({ id }) => id === secret_id)
    if (!keys)
      throw new Error(
        `A stored value is encrypted with another secret (${secret_id}): add that secret to OTHER_SECRET_KEYS`,
      )
    const bytes = Buffer.from(sealed, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', keys.encryption, bytes.subarray(0, nonceBytes))
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString(
      'utf8',
    )
  }

  /** Returns a keyed hash that is equal for equal texts and meaningless without the secret. */
  fingerprint(text: string): string {
    return fingerprintUnder(this.current, text)
  }

  /** Returns the fingerprints that may be stored for a text, one per secret. */
  fingerprints(text: string): string[] {
    return this.all.map((keys) => fingerprintUnder(keys, text))
  }
}

function fingerprintUnder({ fingerprint }: Keys, text: string): string {
  return createHmac('sha256', fingerprint).update(text).digest('hex')
}

function deriveKeys(secret: string): Keys {
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', secret, '', `partner-interface ${purpose}`, 32))
  const id = createHash('sha256').update(derive('id')).digest('hex').slice(0, 12)
  return { id, encryption: derive('encryption'), fingerprint: derive('fingerprint') }
}

/** Re-encrypts a collection's values under the current secret, skipping any that another process changes first. */
export async function reencryptAll(
  { collection }: { collection: unknown },
  secrets: SecretBox,
): Promise<void> {
  const stored = collection as mongo.Collection<Sealed & { _id: string }>
  for await (const one of stored.find())
    if (!secrets.isCurrent(one))
      await stored.updateOne({ _id: one._id, sealed: one.sealed }, { $set: secrets.seal(secrets.open(one)) })
}
