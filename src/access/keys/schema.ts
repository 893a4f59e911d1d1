import type { Static } from '@sinclair/typebox'
import { output, responseObject, withTitle } from '../../http/input/schema/fields.ts'
import { permissions } from '../../http/permissions.ts'
import { keyStatuses } from './status.ts'

/** Response of `GET /v1/key` (decisions §18). */
export const KeyView = withTitle(
  'Key',
  responseObject({
    id: output.integer('Id of the key; unchanged by a rotation', 'id'),
    name: output.text('Name that the administrator gave the key'),
    host: responseObject(
      {
        name: output.text('Name of the host account that the key belongs to'),
        email: output.text('E-mail address of that host account', 'email'),
      },
      'Host account that the key acts for',
    ),
    permissions: output.list(
      'Permissions of the key; each operation names the permission that it requires',
      output.literal('Permission of the key', ...permissions),
    ),
    allowed_from: output.list(
      'Networks from which the key is accepted; empty if it is accepted from anywhere',
      output.text('Network in CIDR form'),
    ),
    status: output.literal('Status of the key; requests get 401 unless it is `active`', ...keyStatuses),
    expires_at: output.timestampOrNull('Time at which the key expires; null if it never expires'),
    previous_expires_at: output.timestampOrNull(
      'Time at which the previous secret of a rotated key stops working; null if no rotation is in progress',
    ),
    rate_limit: responseObject(
      {
        limit: output.integer('Number of requests allowed in any window', 'count'),
        remaining: output.integer('Number of requests remaining in the current window', 'count'),
        window_seconds: output.integer('Length of the window, in seconds', 'count'),
      },
      'Main rate limit of the key',
    ),
    usage: responseObject(
      {
        count: output.integer(
          'Number of requests made with the key so far, at most 2 s out of date',
          'count',
        ),
        last_used_at: output.timestampOrNull('Time at which the key was last used; null if never used'),
      },
      'Usage of the key',
    ),
  }),
)
export type KeyView = Static<typeof KeyView>
