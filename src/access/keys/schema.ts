import type { Static } from '@sinclair/typebox'
import { permissions } from '../../http/permissions.ts'
import { named, responseObject, shown } from '../../http/schema/fields.ts'
import { keyStatuses } from './status.ts'

/** Response of `GET /v1/key` (decisions §18). */
export const KeyView = named(
  'Key',
  responseObject({
    id: shown.integer('Id of the key; it survives a rotation', 'id'),
    name: shown.text('What the administrator called the key'),
    host: responseObject(
      {
        name: shown.text('Name of the host account that the key belongs to'),
        email: shown.text('E-mail address of that host account', 'email'),
      },
      'The host account that the key acts for',
    ),
    permissions: shown.list(
      'What the key may do; each operation names the permission that it needs',
      shown.word('A permission', ...permissions),
    ),
    status: shown.word('Status of the key; unless it is `active`, requests get 401', ...keyStatuses),
    expires_at: shown.timestampOrNull('When the key expires; null if it does not'),
    previous_expires_at: shown.timestampOrNull(
      'When the previous secret of a rotated key stops working; null if no rotation is running',
    ),
    rate_limit: responseObject(
      {
        limit: shown.integer('Requests allowed in any window', 'count'),
        remaining: shown.integer('Requests left at this moment', 'count'),
        window_seconds: shown.integer('Length of the window in seconds', 'count'),
      },
      'The main rate limit of the key',
    ),
    usage: responseObject(
      {
        count: shown.integer('Requests made with the key so far, at most 2 s late', 'count'),
        last_used_at: shown.timestampOrNull('When the key was last used; null if never'),
      },
      'How much the key has been used',
    ),
  }),
)
export type KeyView = Static<typeof KeyView>
