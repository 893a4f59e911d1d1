import { Elysia } from 'elysia'
import { availabilityRoutes } from './availability/routes.ts'
import { bookingRoutes } from './bookings/routes.ts'
import { consumerRoutes } from './consumers/routes.ts'
import type { AppContext } from './context.ts'
import { feedRoutes } from './feed/routes.ts'
import { hostRoutes } from './hosts/routes.ts'
import { keyRoutes } from './keys/routes.ts'
import { rateRoutes } from './listings/rates/routes.ts'
import { listingRoutes } from './listings/routes.ts'
import { messageRoutes } from './messages/routes.ts'
import { providerKeyRoutes } from './provider-keys/routes.ts'
import { requestRoutes } from './requests/routes.ts'
import { userRoutes } from './users/routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'

/** The routes of the contract, one `.use()` per feature. */
export function v1Routes(app: AppContext) {
  return new Elysia()
    .use(hostRoutes(app))
    .use(keyRoutes(app))
    .use(requestRoutes(app))
    .use(userRoutes(app))
    .use(listingRoutes(app))
    .use(bookingRoutes(app))
    .use(messageRoutes(app))
    .use(providerKeyRoutes(app))
    .use(availabilityRoutes(app))
    .use(rateRoutes(app))
    .use(feedRoutes(app))
    .use(consumerRoutes(app))
    .use(webhookRoutes(app))
}
