import { Elysia } from 'elysia'
import { availabilityRoutes } from './availability/routes.ts'
import { bookingRoutes } from './bookings/routes.ts'
import type { Deps } from './deps.ts'
import { feedRoutes } from './feed/routes.ts'
import { hostRoutes } from './hosts/routes.ts'
import { keyRoutes } from './keys/routes.ts'
import { listingRoutes } from './listings/routes.ts'
import { messageRoutes } from './messages/routes.ts'
import { providerKeyRoutes } from './provider-keys/routes.ts'
import { rateRoutes } from './rates/routes.ts'
import { userRoutes } from './users/routes.ts'

/** The routes of the contract, one `.use()` per feature. */
export function v1Routes(deps: Deps) {
  return new Elysia()
    .use(hostRoutes(deps))
    .use(keyRoutes(deps))
    .use(userRoutes(deps))
    .use(listingRoutes(deps))
    .use(bookingRoutes(deps))
    .use(messageRoutes(deps))
    .use(providerKeyRoutes(deps))
    .use(availabilityRoutes(deps))
    .use(rateRoutes(deps))
    .use(feedRoutes(deps))
}
