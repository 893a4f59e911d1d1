import { fsyncSync, openSync, writeSync } from 'node:fs'
import { reasonOf } from '../../src/core/file-errors.ts'
import type { Receipt } from '../../src/stays/guests/erase.ts'
import { parseJson, readText } from '../shared/values.ts'

/**
 * Appends a receipt and returns once it is on disk.
 *
 * @throws Error if the file can no longer be written. The message tells the user what to do, because the guest's
 * erasure has already begun.
 */
export function addReceipt(descriptor: number, receipt: Receipt): void {
  try {
    writeSync(descriptor, `${JSON.stringify(receipt)}\n`)
    fsyncSync(descriptor)
  } catch (cause) {
    throw new Error(
      `Cannot write the receipt of user ${receipt.user_id} (${reasonOf(cause)}): the user is marked as erased, but nothing is overwritten yet. Run the command again with a file that can be written`,
      { cause },
    )
  }
}

/**
 * Opens a file to which receipts are appended.
 *
 * @throws Error if the file cannot be written
 */
export function openReceipts(file: string): number {
  try {
    const descriptor = openSync(file, 'a+')
    // This write fails if the disk is full, and no erasure may begin without a receipt. The line break also ends a
    // receipt that a full disk cut off.
    writeSync(descriptor, '\n')
    fsyncSync(descriptor)
    return descriptor
  } catch (error) {
    throw new Error(`Cannot write "${file}" (${reasonOf(error)}): nothing was erased`)
  }
}

/**
 * Reads all receipts in a file before any guest is erased.
 *
 * @throws Error that names the line of a malformed receipt
 */
export async function readReceipts(file: string): Promise<Receipt[]> {
  const text = await readText(file)
  const receipts: Receipt[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const receipt = parseJson(line)
    if (!isReceipt(receipt))
      throw new Error(`Line ${index + 1} of "${file}" is not a receipt: nothing was erased`)
    receipts.push(receipt)
  }
  return receipts
}

function isReceipt(value: unknown): value is Receipt {
  const { user_id, host_id, user_created_at, at } = (value ?? {}) as Partial<Receipt>
  const hasIds = Number.isSafeInteger(user_id) && Number.isSafeInteger(host_id)
  return hasIds && isMoment(user_created_at) && isMoment(at)
}

function isMoment(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}
