// Generated from the OpenAPI document: `bin/bun run client:types`.
/** The operations that accept an `Idempotency-Key`. */
export const keyedOperations: readonly string[] = [
    "POST /users",
    "POST /listings",
    "POST /bookings",
    "POST /bookings/{booking_id}/confirm",
    "POST /bookings/{booking_id}/cancel",
    "POST /integrations/{provider}/availability",
    "POST /integrations/{provider}/rates"
];
export interface paths {
    "/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check the key and read the host profile
         * @description Any key may call this endpoint.
         */
        get: operations["getHostProfile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the permissions, expiry, limit and usage of this key
         * @description Any key may call this endpoint.
         */
        get: operations["getKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the requests made with this key
         * @description Any key may call this endpoint.
         */
        get: operations["listRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the requests that count towards the rate limit of this key
         * @description Any key may call this endpoint.
         */
        get: operations["countRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List users, find one by e-mail address, or list those who were erased
         * @description Without `erased_after`, users whose personal data was erased are left out; read one of them by id. With it, only they are listed, so that a nightly sync learns of every guest who was erased, also of one without bookings
         *
         *     Permission: `users.read`.
         */
        get: operations["listUsers"];
        put?: never;
        /**
         * Create a user
         * @description Permission: `users.write`. Safe to retry with `Idempotency-Key`.
         */
        post: operations["createUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a user
         * @description Permission: `users.read`.
         */
        get: operations["getUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/listings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List listings
         * @description Permission: `listings.read`.
         */
        get: operations["listListings"];
        put?: never;
        /**
         * Create a listing, or update the one that matches
         * @description Permission: `listings.write`. Safe to retry with `Idempotency-Key`.
         */
        post: operations["createListing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/listings/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a listing
         * @description Permission: `listings.read`.
         */
        get: operations["getListing"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update a listing
         * @description Permission: `listings.write`.
         */
        patch: operations["updateListing"];
        trace?: never;
    };
    "/v1/bookings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a booking
         * @description Checks the dates, the listing's status and the units left on each night. The listing's other wishes, such as `stay_min` or `max_occupancy`, are not checked, because partners also bring in stays that were agreed elsewhere
         *
         *     Permission: `bookings.write`. Safe to retry with `Idempotency-Key`.
         */
        post: operations["createBooking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/bookings/{booking_id}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm a pending booking
         * @description Permission: `bookings.write`. Safe to retry with `Idempotency-Key`.
         */
        post: operations["confirmBooking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/bookings/{booking_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a booking
         * @description Gives back what was subtracted for the booking. On a night whose range of availability was written after the booking was made, nothing was subtracted: write the range again
         *
         *     Permission: `bookings.write`. Safe to retry with `Idempotency-Key`.
         */
        post: operations["cancelBooking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/bookings/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a booking in full
         * @description Permission: `bookings.read`.
         */
        get: operations["getBooking"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/bookings/{booking_id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the messages of a booking
         * @description Permission: `bookings.read`.
         */
        get: operations["listMessages"];
        put?: never;
        /**
         * Send a message to the guest
         * @description Permission: `bookings.write`.
         */
        post: operations["sendMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/provider-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Store the provider key
         * @description Permission: `listings.write`.
         */
        post: operations["storeProviderKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/availability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read availability
         * @description Permission: `listings.read`.
         */
        get: operations["getAvailability"];
        put?: never;
        /**
         * Write availability in bulk
         * @description Permission: `listings.write`. Safe to retry with `Idempotency-Key`.
         */
        post: operations["updateAvailability"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/availability/nights": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the number of units left on each night
         * @description Permission: `listings.read`.
         */
        get: operations["getNights"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/rates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write rates in bulk
         * @description Permission: `listings.write`. Safe to retry with `Idempotency-Key`.
         */
        post: operations["updateRates"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/rates/jobs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the status of a rates write
         * @description Permission: `listings.write`.
         */
        get: operations["getRateJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/calendars": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the calendars of rooms
         * @description Permission: `listings.read`.
         */
        get: operations["listCalendars"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/calendars/{room_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what the calendar of a room blocks
         * @description Permission: `listings.read`.
         */
        get: operations["getCalendar"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/calendars/{room_id}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read the calendar of a room now
         * @description Fetches the file, which may take 20 s, and responds with the entry, whatever the outcome. Less than 60 s after the last attempt, it responds 409 with `Retry-After`, unless the address is new or `accept` is true. With `accept`, the file is taken as it is, even if many nights are gone. In the sandbox, a calendar is read only in this way, and the times are on the clock of the sandbox
         *
         *     Permission: `listings.write`.
         */
        post: operations["readCalendar"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/calendars/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check what a calendar file would block
         * @description Reads the text of a file as if it were fetched, and stores nothing. The body may have up to 2 MiB, because JSON escapes line breaks
         *
         *     Permission: `listings.read`.
         */
        post: operations["checkCalendar"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/bookings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Poll for new and changed bookings
         * @description Permission: `bookings.read`.
         */
        get: operations["pollBookings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Poll for new messages
         * @description Permission: `bookings.read`.
         */
        get: operations["pollMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/bookings/digest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare your bookings with the host's
         * @description Permission: `bookings.read`.
         */
        get: operations["digestBookings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/bookings/consumers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List consumers of the bookings feed
         * @description Permission: `bookings.read`.
         */
        get: operations["listBookingConsumers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/bookings/consumers/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a consumer and its lag
         * @description Permission: `bookings.read`.
         */
        get: operations["getBookingConsumer"];
        /**
         * Create a consumer or acknowledge changes
         * @description Permission: `bookings.read`.
         */
        put: operations["putBookingConsumer"];
        post?: never;
        /**
         * Delete a consumer
         * @description Permission: `bookings.read`.
         */
        delete: operations["deleteBookingConsumer"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/messages/consumers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List consumers of the messages feed
         * @description Permission: `bookings.read`.
         */
        get: operations["listMessageConsumers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/{provider}/messages/consumers/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a consumer and its lag
         * @description Permission: `bookings.read`.
         */
        get: operations["getMessageConsumer"];
        /**
         * Create a consumer or acknowledge changes
         * @description Permission: `bookings.read`.
         */
        put: operations["putMessageConsumer"];
        post?: never;
        /**
         * Delete a consumer
         * @description Permission: `bookings.read`.
         */
        delete: operations["deleteMessageConsumer"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Learn whether the integration is quiet or broken
         * @description Any key may call this endpoint.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Permission: `bookings.read`.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description Hints are posted to the webhook from now on. The `secret` that signs them is shown only in this response. A host can have at most five webhooks
         *
         *     Permission: `bookings.read`.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a webhook
         * @description Permission: `bookings.read`.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Permission: `bookings.read`.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Update a webhook, or turn it on or off
         * @description Turning a webhook off drops its waiting hints. When it is turned on again, hints begin with the next change, and `meta.gap` contains the versions after which hints may be missing; read the feeds from there. A new `url` with the same origin keeps the waiting hints; a new origin drops them, and `meta.gap` contains the versions to read from. Turning on a webhook whose key has ended transfers it to your key
         *
         *     Permission: `bookings.read`.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/v1/webhooks/{id}/secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of a webhook
         * @description The new secret is shown only in this response. For 24 hours, hints are also signed with the previous secret; at most two secrets sign at a time
         *
         *     Permission: `bookings.read`.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test to a webhook and return the result
         * @description Posts a `webhook.test` immediately, even to a webhook that is off, and waits up to 15 s for the response. A test is never retried
         *
         *     Permission: `bookings.read`.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries of a webhook
         * @description Permission: `bookings.read`.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries/{delivery_id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resend a delivery
         * @description Makes the delivery due immediately, under the same `webhook-id`, and responds without waiting for the attempt; the list of deliveries shows the outcome
         *
         *     Permission: `bookings.read`.
         */
        post: operations["resendWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Clear the sandbox of this key (sandbox)
         * @description Any key may call this endpoint. Operates on the calling key's mock data and never touches live data.
         */
        delete: operations["clearSandbox"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/bookings/{booking_id}/messages/guest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reply as the guest of a sandbox booking (sandbox)
         * @description Permission: `bookings.write`. Operates on the calling key's mock data and never touches live data.
         */
        post: operations["replyAsSandboxGuest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/scenarios": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the available scenarios (sandbox)
         * @description Any key may call this endpoint. Operates on the calling key's mock data and never touches live data.
         */
        get: operations["listSandboxScenarios"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/scenarios/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Play a scenario in the sandbox (sandbox)
         * @description - `guest-books`: New guests book, each with a message. Finds an integration that knows only the bookings it made itself.
         *     - `host-confirms`: The host confirms a pending booking. Finds an integration that reads each booking only once.
         *     - `guest-cancels`: A guest cancels and gives a reason. Finds an integration that keeps the nights of a cancelled booking blocked.
         *     - `cancelled-before-seen`: A guest books and cancels before any poll can see the booking. Finds an integration that cannot handle the cancellation of a booking it never saw.
         *     - `changed-within-a-second`: A booking is created, confirmed and cancelled within a second. Finds an integration that waits for an intermediate status, or that polls from its own clock, which is now behind the version.
         *     - `last-unit`: A guest takes the last unit of some nights. Finds an integration that books from outdated availability, or repeats a refused booking.
         *     - `guest-writes`: A guest writes messages. Finds an integration that misses messages sent between two polls, or stores one twice.
         *     - `conversation-closes`: A conversation is closed, so the next message to it is refused. Finds an integration that retries a refused message forever.
         *     - `history`: Past stays are created, the same number in each status. Finds an integration whose first sync reads only one page or drops past stays.
         *
         *     Any key may call this endpoint. Operates on the calling key's mock data and never touches live data.
         */
        post: operations["playSandboxScenario"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/clock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the clock of the sandbox (sandbox)
         * @description Any key may call this endpoint. Operates on the calling key's mock data and never touches live data.
         */
        get: operations["getSandboxClock"];
        put?: never;
        /**
         * Move the clock of the sandbox forward (sandbox)
         * @description Any key may call this endpoint. Operates on the calling key's mock data and never touches live data.
         */
        post: operations["advanceSandboxClock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/certifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the certifications (sandbox)
         * @description Any key may call this endpoint. Operates on the calling key's mock data and never touches live data.
         */
        get: operations["listSandboxCertifications"];
        put?: never;
        /**
         * Start a certification (sandbox)
         * @description Clears the sandbox of this key, fills it with 130 bookings, and plays a course of changes and faults. Point your product at the sandbox, and follow `next`.
         *
         *     Any key may call this endpoint. Operates on the calling key's mock data and never touches live data.
         */
        post: operations["startSandboxCertification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/certifications/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a certification (sandbox)
         * @description Any key may call this endpoint. Operates on the calling key's mock data and never touches live data.
         */
        get: operations["getSandboxCertification"];
        put?: never;
        post?: never;
        /**
         * End a certification (sandbox)
         * @description Any key may call this endpoint. Operates on the calling key's mock data and never touches live data.
         */
        delete: operations["endSandboxCertification"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/certifications/{id}/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Upload the bookings that the product holds (sandbox)
         * @description Accepted only once, when `next` asks for it; sent as JSON, or as ndjson with one booking per line
         *
         *     Any key may call this endpoint. Operates on the calling key's mock data and never touches live data.
         */
        put: operations["uploadSandboxCertificationState"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/certifications/{id}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the signed report of a certification (sandbox)
         * @description Any key may call this endpoint. Operates on the calling key's mock data and never touches live data.
         */
        get: operations["getSandboxCertificationReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/faults": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the fault rules of the sandbox (sandbox)
         * @description Any key may call this endpoint. Operates on the calling key's mock data and never touches live data.
         */
        get: operations["listSandboxFaults"];
        /**
         * Replace all fault rules of the sandbox (sandbox)
         * @description Any key may call this endpoint. Operates on the calling key's mock data and never touches live data.
         */
        put: operations["setSandboxFaults"];
        post?: never;
        /**
         * Remove all fault rules of the sandbox (sandbox)
         * @description Any key may call this endpoint. Operates on the calling key's mock data and never touches live data.
         */
        delete: operations["clearSandboxFaults"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AvailabilityItem: {
            /** @description Id of the listing */
            listing_id: number | string;
            /** @description Id of a room type of that listing */
            room_type_id: number | string;
            /** @description Number of units left on each day of the range; 0 closes the range */
            available: number;
            /**
             * Format: date
             * @description First day of the range
             */
            start_date: string;
            /**
             * Format: date
             * @description Last day of the range, inclusive
             */
            end_date: string;
            /** @description `version` of the booking feed up to which the count is informed: where the feed ended when it was read to its end. Bookings made later count against the range, however late this request arrives. If absent or null, those made after this write count */
            as_of?: string | null;
        };
        AvailabilityPagination: {
            /** @description Number of the requested page */
            current_page: number;
            /** @description Maximum number of items per page */
            per_page: number;
            /** @description Total number of matching items across all pages */
            total: number;
            /** @description Number of the last page; there are more pages while it is greater than `current_page` */
            last_page: number;
        };
        AvailabilityRow: {
            /** @description Id of the range */
            id: number;
            /** @description Id of the listing */
            listing_id: number;
            /** @description Id of the room type */
            room_type_id: number;
            /** @description Number of units left on each day of the range at the time it was written, or at `as_of` */
            available: number;
            /**
             * Format: date
             * @description First day of the range
             */
            start_date: string;
            /**
             * Format: date
             * @description Last day of the range, inclusive
             */
            end_date: string;
            /** @description `version` of the booking feed up to which `available` is informed, as it was written; null if none was sent */
            as_of: string | null;
            /**
             * Format: date-time
             * @description Time at which the range was written
             */
            updated_at: string;
        };
        AvailabilityWrite: {
            /** @description Items to write, all or nothing; if items conflict, the later one wins; at most 1000 entries */
            data: components["schemas"]["AvailabilityItem"][];
        };
        Booking: {
            /** @description Id of the booking */
            booking_id: number;
            /** @description Booking number: `BK-` followed by the id */
            booking_no: string;
            /** @description Id of the guest */
            user_id: number;
            /** @description Id of the host */
            host_id: number;
            /** @description Id of the listing */
            listing_id: number;
            /** @description Id of the room type */
            room_type_id: number;
            /**
             * Format: date
             * @description First night of the stay
             */
            checkin_at: string;
            /**
             * Format: date
             * @description Day after the last night
             */
            checkout_at: string;
            /** @description Number of nights */
            nights: number;
            /** @description Number of guests; always 1 */
            guests: number;
            /** @description Number of units; always 1 */
            rooms: number;
            /** @description Status as a number: 1 for pending, 2 for confirmed, 3 for cancelled */
            status: number;
            /**
             * @description Kind of booking
             * @enum {string}
             */
            type: "api_booking";
            /** @description ISO currency code of all amounts, in upper case; determines how many decimal places they have (ISO 4217) */
            currency: string;
            /** @description Price of all nights before discount and fees, in major units, rounded half up */
            price: number;
            /** @description Same as `price` */
            price_local: number;
            /** @description Price minus the discount plus mandatory one-off fees, in major units */
            price_total: number;
            /** @description Same as `price_total` */
            price_total_local: number;
            /** @description Security deposit of the listing, in major units; not included in the total */
            security_deposit: number;
            /** @description Same as `security_deposit` */
            security_deposit_local: number;
            /** @description Discount for the length of the stay, in major units */
            discount: number;
            /** @description Transaction fee; always 0 */
            transaction_fee: number;
            /** @description Service fee; always 0 */
            service_fee: number;
            /** @description Total service fee; always 0 */
            service_fee_total: number;
            /**
             * @description Whether the booking recurs; always 0
             * @enum {integer}
             */
            is_recurring: 0 | 1;
            /**
             * @description Whether the platform manages the booking; always 0
             * @enum {integer}
             */
            managed: 0 | 1;
            /**
             * @description Whether the payout is ready; always 0
             * @enum {integer}
             */
            payout_ready: 0 | 1;
            /** @description Time of the next recurrence; always null, because this service does not store it */
            recurring_at: string | null;
            /** @description Lifecycle on the platform; always null, because this service does not store it */
            lifecycle: string | null;
            /** @description Payment status; always null, because this service does not store it */
            payment_status: string | null;
            /** @description Lead status; always null, because this service does not store it */
            lead_status: string | null;
            /**
             * @description Source of the booking
             * @enum {string}
             */
            source: "api";
            /** @description Whether the booking was created through this API */
            api_created: boolean;
            /** @description Special requests made by the guest when booking; null if there were none */
            special_requests: string | null;
            /** @description Reason for the cancellation; null if the booking is not cancelled or no reason was given */
            cancellation_reason: string | null;
            /** @description Reason for a dispute; always null, because this service does not store it */
            dispute_reason: string | null;
            /** @description Time at which the guest paid; always null, because this service does not store it */
            paid_at: string | null;
            /** @description Time at which the host was paid; always null, because this service does not store it */
            paid_to_host_at: string | null;
            /** @description Time at which the booking was invoiced; always null, because this service does not store it */
            invoiced_at: string | null;
            /**
             * Format: date-time
             * @description Time at which the booking was cancelled; null if it has not been cancelled
             */
            canceled_at: string | null;
            /** @description Time at which the guest missed the booking; always null, because this service does not store it */
            missed_at: string | null;
            /**
             * Format: date-time
             * @description Time at which the booking was confirmed; null if it has not been confirmed
             */
            confirmed_at: string | null;
            /** @description Time at which the booking was extended; always null, because this service does not store it */
            extended_at: string | null;
            /** @description Origin of the booking and special requests */
            meta: {
                /**
                 * @description Source of the booking
                 * @enum {string}
                 */
                source: "api";
                /** @description Whether the booking was created through this API */
                api_created: boolean;
                /** @description Special requests made by the guest when booking; null if there were none */
                special_requests: string | null;
            };
            /**
             * Format: date-time
             * @description Time at which the booking was created
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Version as a timestamp; may be ahead of the clock after a burst of changes
             */
            updated_at: string;
        };
        BookingCancel: {
            /** @description Reason for the cancellation, trimmed; null for no reason */
            reason?: string | null;
        };
        BookingChange: {
            /** @description Id of the booking */
            booking_id: number;
            /** @description Id of the listing */
            listing_id: number;
            /** @description Id of the room type */
            room_type_id: number;
            /**
             * @description Status of the booking
             * @enum {string}
             */
            status: "pending" | "confirmed" | "cancelled" | (string & {});
            /**
             * Format: date
             * @description First night of the stay
             */
            checkin_at: string;
            /**
             * Format: date
             * @description Day after the last night
             */
            checkout_at: string;
            /** @description Version of this change, in UTC; pass the last version received as `updated_after` */
            version: string;
            Booking?: components["schemas"]["BookingDetail"];
        };
        BookingConfirm: Record<string, never>;
        BookingCreate: {
            /** @description Id of a user created by this host */
            user_id: number | string;
            /** @description Id of one of the host's listings; the listing must not be inactive */
            listing_id: number | string;
            /** @description Id of a room type of the listing; may be null or absent only if the listing has exactly one room type */
            room_type_id?: number | string | null;
            /**
             * Format: date
             * @description First night of the stay; past dates are allowed
             */
            checkin_at: string;
            /**
             * Format: date
             * @description Day after the last night; at most 1095 nights after `checkin_at`
             */
            checkout_at: string;
            /** @description Message from the guest, trimmed; stored as `special_requests` and as the first message; null for no message */
            message?: string | null;
        };
        BookingDetail: {
            /** @description Id of the booking */
            booking_id: number;
            /** @description Human-readable reference: `BK-` followed by the id */
            booking_reference: string;
            /** @description Id of the listing */
            listing_id: number;
            /** @description Id of the room type */
            room_type_id: number;
            /** @description Current name of the room type; null if it has no name */
            room_type_name: string | null;
            /** @description Id of the room; always null, because bookings are for a room type */
            room_id: number | null;
            /**
             * @description Status of the booking
             * @enum {string}
             */
            status: "pending" | "confirmed" | "cancelled" | (string & {});
            /**
             * Format: date
             * @description First night of the stay
             */
            checkin_at: string;
            /**
             * Format: date
             * @description Day after the last night
             */
            checkout_at: string;
            /** @description Number of nights */
            nights: number;
            /** @description Number of guests and units */
            guests: {
                /** @description Number of guests */
                total: number;
                /** @description Number of units */
                rooms: number;
            };
            /** @description The guest */
            guest: {
                /** @description Name of the guest; null if unknown */
                name: string | null;
                /**
                 * Format: email
                 * @description E-mail address of the guest; null if unknown
                 */
                email: string | null;
                /** @description Telephone number of the guest, as sent; null if unknown */
                phone: string | null;
                /** @description Two-letter country code of the guest; null if it cannot be determined, or if the name means two countries and the language of the guest does not decide */
                country: string | null;
            };
            /** @description Price */
            pricing: {
                /** @description ISO currency code of all amounts, in upper case; determines how many decimal places they have (ISO 4217) */
                currency: string;
                /** @description Total price, in major units */
                total: number;
                /** @description Same as `total`; null if it cannot be converted */
                total_local: number | null;
                /** @description Security deposit, in major units; not included in the total */
                security_deposit: number;
            };
            /** @description Reason for the cancellation; null if the booking is not cancelled or no reason was given */
            cancellation_reason: string | null;
            /** @description Special requests made by the guest when booking; null if there were none */
            notes: string | null;
            /**
             * Format: date-time
             * @description Time at which the guest's data in the booking was erased; null if it has not been erased
             */
            erased_at: string | null;
            /** @description Version and times of creation and last change */
            meta: {
                /** @description Version of this change, in UTC; pass the last version received as `updated_after` */
                version: string;
                /**
                 * Format: date-time
                 * @description Time at which the booking was created
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description Version as a timestamp; may be ahead of the clock after a burst of changes
                 */
                updated_at: string;
            };
        };
        BookingDigest: {
            /** @description Newest version among all bookings of the host, regardless of the query; null if there are none */
            version: string | null;
            /** @description Number of bookings */
            count: number;
            /** @description SHA-256, in lower-case hex, of one line per booking in ascending order of id: `booking_id status checkin_at checkout_at` and a line feed */
            sha256: string;
            /** @description Summary of each month with bookings or, with `month`, of each day with bookings; absent with `day` */
            parts?: components["schemas"]["BookingDigestPart"][];
            /** @description Bookings of the `day`, sorted by id, at most 10,000; present only with `day` */
            bookings?: components["schemas"]["DigestedBooking"][];
            /** @description Value of `after` for the next page, null on the last page; present only with `day` */
            next_after?: number | null;
        };
        BookingDigestPart: {
            /** @description Month or day of `checkin_at` */
            key: string;
            /** @description Number of bookings */
            count: number;
            /** @description SHA-256, in lower-case hex, of one line per booking in ascending order of id: `booking_id status checkin_at checkout_at` and a line feed */
            sha256: string;
        };
        Calendar: {
            /** @description Id of the listing */
            listing_id: number;
            /** @description Id of the room type */
            room_type_id: number;
            /** @description Id of the room */
            room_id: number;
            /** @description Address of the calendar, as it was sent in the room's `availability.ical` */
            url: string;
            /**
             * @description `waiting` if this address has not been read yet, `ok` after a good reading, `holding` after a good reading that would free so many nights that nothing is freed for now, `failing` if the last attempt failed; the blocks stay in every status
             * @enum {string}
             */
            status: "waiting" | "ok" | "holding" | "failing" | (string & {});
            /** @description Why the last attempt failed (`address`, `dns`, `tls`, `refused`, `timeout`, `status`, `redirect`, `too_large`, `not_a_calendar`, `limit`; `limit` if the host has too many calendars), otherwise null */
            error: string | null;
            /** @description HTTP status of the last attempt; null if there was no response */
            response_status: number | null;
            /**
             * Format: date-time
             * @description Last good reading of this address; null if there was none
             */
            read_at: string | null;
            /**
             * Format: date-time
             * @description Last reading that blocked or freed a night; null if there was none
             */
            changed_at: string | null;
            /**
             * Format: date-time
             * @description Last attempt to read this address; null if there was none
             */
            attempted_at: string | null;
            /**
             * Format: date-time
             * @description Next attempt; null if there is none, as in the sandbox, where a calendar is read only when you ask for it
             */
            next_read_at: string | null;
            /**
             * Format: date-time
             * @description Time from which a reading takes the file as it is, if every reading until then would again free so many nights; null if nothing is held
             */
            held_until: string | null;
            /** @description Events of the last good reading; null if there was none */
            events: {
                /** @description Number of events in the file */
                read: number;
                /** @description Number of events that block a night */
                blocking: number;
                /** @description Number of events that could not be read */
                skipped: number;
            } | null;
            /** @description Number of nights from today on that the calendar blocks, those of your own bookings included */
            nights: number;
            /** @description First nights, at most 20, on which the room type had more bookings and blocks than rooms at the last good reading */
            conflicts: string[];
            /** @description Ranges of nights that the calendar takes, by first night */
            blocks: components["schemas"]["CalendarBlock"][];
            /** @description First events, at most 20, that the last good reading could not read */
            skipped: components["schemas"]["SkippedEvent"][];
        };
        CalendarBlock: {
            /**
             * Format: date
             * @description First night
             */
            start_date: string;
            /**
             * Format: date
             * @description Day after the last night
             */
            end_date: string;
            /**
             * Format: date-time
             * @description Time of the reading that showed the range first
             */
            seen_at: string;
            /** @description Your booking that this range is, so that it is counted once; null if it is another stay */
            booking_id: number | null;
        };
        CalendarCheck: {
            /** @description Content of an iCalendar file, at most 1 MiB */
            text: string;
            /** @description Id of a room whose listing gives the time zone for times in UTC, whether or not the room has a calendar; UTC if absent */
            room_id?: number | string | null;
        };
        CalendarEntry: {
            /** @description Id of the listing */
            listing_id: number;
            /** @description Id of the room type */
            room_type_id: number;
            /** @description Id of the room */
            room_id: number;
            /** @description Address of the calendar, as it was sent in the room's `availability.ical` */
            url: string;
            /**
             * @description `waiting` if this address has not been read yet, `ok` after a good reading, `holding` after a good reading that would free so many nights that nothing is freed for now, `failing` if the last attempt failed; the blocks stay in every status
             * @enum {string}
             */
            status: "waiting" | "ok" | "holding" | "failing" | (string & {});
            /** @description Why the last attempt failed (`address`, `dns`, `tls`, `refused`, `timeout`, `status`, `redirect`, `too_large`, `not_a_calendar`, `limit`; `limit` if the host has too many calendars), otherwise null */
            error: string | null;
            /** @description HTTP status of the last attempt; null if there was no response */
            response_status: number | null;
            /**
             * Format: date-time
             * @description Last good reading of this address; null if there was none
             */
            read_at: string | null;
            /**
             * Format: date-time
             * @description Last reading that blocked or freed a night; null if there was none
             */
            changed_at: string | null;
            /**
             * Format: date-time
             * @description Last attempt to read this address; null if there was none
             */
            attempted_at: string | null;
            /**
             * Format: date-time
             * @description Next attempt; null if there is none, as in the sandbox, where a calendar is read only when you ask for it
             */
            next_read_at: string | null;
            /**
             * Format: date-time
             * @description Time from which a reading takes the file as it is, if every reading until then would again free so many nights; null if nothing is held
             */
            held_until: string | null;
            /** @description Events of the last good reading; null if there was none */
            events: {
                /** @description Number of events in the file */
                read: number;
                /** @description Number of events that block a night */
                blocking: number;
                /** @description Number of events that could not be read */
                skipped: number;
            } | null;
            /** @description Number of nights from today on that the calendar blocks, those of your own bookings included */
            nights: number;
            /** @description First nights, at most 20, on which the room type had more bookings and blocks than rooms at the last good reading */
            conflicts: string[];
        };
        CalendarRead: {
            /** @description True to take the file as it is, even if it frees many nights; absent or null means false */
            accept?: boolean | null;
        };
        Certification: {
            /** @description Id of the certification */
            id: number;
            /**
             * @description Status of the certification
             * @enum {string}
             */
            status: "running" | "passed" | "failed" | "expired" | (string & {});
            /** @description Profiles that the product is certified for */
            profiles: ("feed" | "inventory" | "bookings" | "webhooks")[];
            /** @description Seed that determines the course */
            seed: string;
            /**
             * Format: date-time
             * @description Time at which the certification started
             */
            started_at: string;
            /**
             * Format: date-time
             * @description Time at which the certification ended; null while it is running
             */
            ended_at: string | null;
            /** @description Next action; null until the sandbox is filled and once the certification has ended */
            next: components["schemas"]["CertificationNext"] | null;
            /** @description Last request of the product and the bookings that it has yet to read; null unless a running certification is read */
            progress: components["schemas"]["CertificationProgress"] | null;
            /** @description Cases that the product is graded by */
            cases: components["schemas"]["CertificationCase"][];
        };
        CertificationCase: {
            /** @description Name of the case */
            name: string;
            /**
             * @description Profile that a product can be certified for
             * @enum {string}
             */
            profile: "feed" | "inventory" | "bookings" | "webhooks" | (string & {});
            /** @description Requirement for passing the case */
            rule: string;
            /**
             * @description Status of the case
             * @enum {string}
             */
            status: "waiting" | "passed" | "failed" | "skipped" | (string & {});
            /** @description Reason that the case failed or was skipped; null otherwise */
            because: string | null;
            /** @description Requests that prove the failure; empty unless the case failed */
            request_ids: string[];
            /** @description Link to the description of the cases in the guide */
            guide: string;
        };
        CertificationNext: {
            /**
             * @description Action to take
             * @enum {string}
             */
            action: "start" | "stop" | "wait" | "push_all" | "push_change" | "book" | "cancel" | "upload_state" | (string & {});
            /** @description Action in words */
            text: string;
            /** @description Id of the booking to cancel, for `cancel`; null for other actions */
            booking_id: number | null;
            /** @description Id of a user who can be the guest, for `book`; null for other actions */
            user_id: number | null;
            /** @description Id of the listing, for `push_change` and `book`; null for other actions */
            listing_id: number | null;
            /** @description Id of the room type, for `push_change` and `book`; null for other actions */
            room_type_id: number | null;
            /** @description Room types to push, for `push_all`; null for other actions */
            room_types: {
                /** @description Id of the listing */
                listing_id: number;
                /** @description Id of the room type */
                room_type_id: number;
            }[] | null;
            /**
             * Format: date
             * @description First night of the stay, for `book`; null for other actions
             */
            checkin_at: string | null;
            /**
             * Format: date
             * @description Day of departure, for `book`; null for other actions
             */
            checkout_at: string | null;
            /**
             * Format: date
             * @description First night to push, for `push_all` and `push_change`; null for other actions
             */
            start_date: string | null;
            /**
             * Format: date
             * @description Last night to push, inclusive, for `push_all` and `push_change`; null for other actions
             */
            end_date: string | null;
            /** @description Number of units per night to push, for `push_change`; null for other actions */
            available: number | null;
            /** @description Version up to which the units to push were counted, to be sent along; null for other actions, and if they are pushed at once */
            as_of: string | null;
        };
        CertificationProgress: {
            /**
             * Format: date-time
             * @description Time of the product's last request; null if there is none
             */
            last_request_at: string | null;
            /** @description Method and route of the product's last request; null if there is none */
            last_operation: string | null;
            /** @description Number of bookings that the product has yet to read */
            missing_count: number;
            /** @description Ids of the first five missing bookings */
            missing_booking_ids: number[];
        };
        CertificationStart: {
            /** @description Profiles that the product is certified for; played in the order feed, inventory, bookings, webhooks; at most 4 entries */
            profiles: ("feed" | "inventory" | "bookings" | "webhooks")[];
            /** @description Seed that determines the course; the same seed gives the same course, null a random seed */
            seed?: string | null;
        };
        CertificationState: {
            /** @description Bookings that the product holds; at most 10000 entries */
            bookings: {
                /** @description Id of the booking */
                booking_id: number | string;
                /**
                 * @description Status of the booking
                 * @enum {string}
                 */
                status: "pending" | "confirmed" | "cancelled";
                /**
                 * Format: date
                 * @description First night
                 */
                checkin_at: string;
                /**
                 * Format: date
                 * @description Day of departure
                 */
                checkout_at: string;
            }[];
        };
        CheckedCalendar: {
            /** @description Ranges of nights that the file would block, by first night */
            blocks: components["schemas"]["NightRange"][];
            /** @description Events that could not be read */
            skipped: components["schemas"]["SkippedEvent"][];
            /** @description Numbers of events */
            events: {
                /** @description Number of events in the file */
                read: number;
                /** @description Number of events that block a night */
                blocking: number;
                /** @description Number of events that could not be read */
                skipped: number;
            };
        };
        Confirmation: {
            /** @description Human-readable description of what was done */
            message: string;
        };
        Consumer: {
            /** @description Name of the consumer */
            name: string;
            /** @description Version of the last acknowledged change; null if there is none */
            acknowledged: string | null;
            /**
             * Format: date-time
             * @description Time at which this version was acknowledged; null if there is none
             */
            acknowledged_at: string | null;
            /** @description Number of changes in the whole feed after this version; 10000 means that many or more */
            pending: number;
            /**
             * Format: date-time
             * @description Version of the oldest pending change, as a timestamp; null if there is none
             */
            oldest_pending_at: string | null;
        };
        ConsumerWrite: {
            /** @description Version of the last change you have handled; null for the beginning of the feed */
            acknowledged: string | null;
            /** @description True to allow moving back; otherwise a lower version changes nothing */
            seek?: boolean;
        };
        CursorPagination: {
            /** @description Maximum number of items per page */
            per_page: number;
            /** @description Cursor of the next page; null on the last page */
            next_cursor: string | null;
        };
        DigestedBooking: {
            /** @description Id of the booking */
            booking_id: number;
            /** @description Version of this change, in UTC; pass the last version received as `updated_after` */
            version: string;
            /**
             * @description Status of the booking
             * @enum {string}
             */
            status: "pending" | "confirmed" | "cancelled" | (string & {});
            /**
             * Format: date
             * @description First night of the stay
             */
            checkin_at: string;
            /**
             * Format: date
             * @description Day after the last night
             */
            checkout_at: string;
        };
        /** @description Error response */
        Error: {
            /** @description Details of the error */
            error: {
                /** @description Machine-readable type of the error; [the guide](/guide/errors) explains each at `/guide/errors#<type>` */
                type: string;
                /** @description Human-readable description of the error */
                message: string;
                /** @description Id of the request, to quote when contacting support */
                request_id?: string;
                /** @description Problems with the request, such as one entry for each invalid field; may be empty */
                errors: components["schemas"]["Problem"][];
            };
        };
        ExtraFee: {
            /** @description Name of the fee; null if not set */
            name: string | null;
            /** @description Description of the fee; null if not set */
            description: string | null;
            /** @description Whether the fee is mandatory for every guest: 1 for yes, 0 for no; null if not set */
            mandatory: number | null;
            /** @description Type of the fee: `percentage` or `percent` for a share of the price of the stay, otherwise a fixed amount (any word); null if not set */
            type: string | null;
            /** @description Amount in major units, or percentage; null if not set */
            sum: number | null;
            /** @description Frequency of the fee: `once`, `one_time` or `one_off` for a fee charged with a booking (any word); null if not set */
            frequency: string | null;
        };
        ExtraFeeWrite: {
            /** @description Name of the fee; null if not set */
            name?: string | null;
            /** @description Description of the fee; null if not set */
            description?: string | null;
            /** @description Whether the fee is mandatory for every guest: 1 for yes, 0 for no; null if not set */
            mandatory?: number | null;
            /** @description Type of the fee: `percentage` or `percent` for a share of the price of the stay, otherwise a fixed amount (any word); null if not set */
            type?: string | null;
            /** @description Amount in major units, or percentage; null if not set */
            sum?: number | null;
            /** @description Frequency of the fee: `once`, `one_time` or `one_off` for a fee charged with a booking (any word); null if not set */
            frequency?: string | null;
        };
        FeedHealth: {
            /** @description Version of the newest change; null if there is none */
            newest_version: string | null;
            /** @description Version up to which this key has read the feed without filters; null if it has been shown nothing yet */
            read_version: string | null;
            /**
             * Format: date-time
             * @description Time at which this key last read the feed without filters; null if it never did
             */
            read_at: string | null;
            /** @description Number of changes after `read_version`; 10000 means that many or more, and null that this key has never read the feed */
            unread: number | null;
            /**
             * Format: date-time
             * @description Time of the oldest of them; null if there is none
             */
            oldest_unread_at: string | null;
        };
        FeedPagination: {
            /** @description Number of the requested page */
            current_page: number;
            /** @description Maximum number of items per page */
            per_page: number;
            /** @description Total number of matching items across all pages */
            total: number;
            /** @description Number of the last page; there are more pages while it is greater than `current_page` */
            last_page: number;
            /** @description Position of the first item on this page, starting at 1; null if the page is empty */
            from: number | null;
            /** @description Position of the last item on this page, starting at 1; null if the page is empty */
            to: number | null;
            /** @description Cursor of the next page; null on the last page */
            next_cursor: string | null;
        };
        Finding: {
            /**
             * @description Kind of finding
             * @enum {string}
             */
            code: "feed_unread" | "position_ahead" | "consumer_behind" | "webhook_off" | "webhook_failing" | "key_expires" | "limit_reached" | "requests_refused" | "writes_refused" | "listing_without_price" | "calendar_failing" | "calendar_conflict" | "calendar_incomplete" | "nights_open" | (string & {});
            /**
             * @description `failing` needs somebody now, `warning` can wait until the morning
             * @enum {string}
             */
            severity: "failing" | "warning" | (string & {});
            /**
             * Format: date-time
             * @description Time at which the threshold was crossed; null for `limit_reached`, `requests_refused`, `listing_without_price`, `calendar_conflict`, `calendar_incomplete` and `nights_open`
             */
            since: string | null;
            /** @description What is wrong, in a sentence */
            message: string;
            /**
             * Format: uri
             * @description Address of the section of the guide that says what to do
             */
            guide: string;
            /**
             * @description Feed that the finding is about
             * @enum {string}
             */
            feed?: "bookings" | "messages" | (string & {});
            /** @description Number of unread changes; 10000 means that many or more */
            unread?: number;
            /** @description Name of the consumer that is behind */
            consumer?: string;
            /** @description Number of pending changes; 10000 means that many or more */
            pending?: number;
            /** @description Id of the webhook */
            webhook_id?: number;
            /** @description Operation that is refused, such as `createBooking` */
            operation_id?: string;
            /**
             * Format: date-time
             * @description Time at which the key expires
             */
            expires_at?: string;
            /** @description Number of requests of the last 60 minutes that exceeded the rate limit */
            limited?: number;
            /** @description Number of refused requests: of the last 60 minutes or, for `writes_refused`, since the last success, up to 100, which means that many or more */
            refused?: number;
            /** @description Ids of the listings, ascending, at most 20 */
            listing_ids?: number[];
            /** @description Ids of the rooms whose calendars it is about, ascending, at most 20 */
            room_ids?: number[];
            /** @description Number of such listings or rooms */
            count?: number;
        };
        FrequentQuestion: {
            /** @description The question; null if not set */
            question: string | null;
            /** @description The answer; null if not set */
            answer: string | null;
        };
        FrequentQuestionWrite: {
            /** @description The question; null if not set */
            question?: string | null;
            /** @description The answer; null if not set */
            answer?: string | null;
        };
        Health: {
            /**
             * @description The worst severity among the findings
             * @enum {string}
             */
            status: "ok" | "warning" | "failing" | (string & {});
            /** @description What is wrong, worst first, then oldest first; empty if all is well */
            findings: components["schemas"]["Finding"][];
            /** @description Positions of this key in the feeds */
            feeds: {
                /** @description Booking feed; null if the key lacks the permission `bookings.read` */
                bookings: components["schemas"]["FeedHealth"] | null;
                /** @description Message feed; null if the key lacks the permission `bookings.read` */
                messages: components["schemas"]["FeedHealth"] | null;
            };
            /** @description Requests of the last 60 minutes that count towards the rate limit, live and in the sandbox */
            requests: {
                /** @description Number of requests that succeeded */
                succeeded: number;
                /** @description Number of requests that got 4xx other than 429 */
                refused: number;
                /** @description Number of requests that got 429 */
                limited: number;
                /** @description Number of requests that got 5xx */
                failed: number;
                /** @description Number of requests that a sandbox fault left without a response */
                unanswered: number;
            };
        };
        HostProfile: {
            /** @description Name of the host account */
            name: string;
            /**
             * Format: email
             * @description E-mail address of the host account
             */
            email: string;
            /**
             * Format: date-time
             * @description Time at which the host account was created
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time at which the host last logged in; equal to `created_at` before the first login
             */
            last_login_at: string;
        };
        Key: {
            /** @description Id of the key; unchanged by a rotation */
            id: number;
            /** @description Name that the administrator gave the key */
            name: string;
            /** @description Host account that the key acts for */
            host: {
                /** @description Name of the host account that the key belongs to */
                name: string;
                /**
                 * Format: email
                 * @description E-mail address of that host account
                 */
                email: string;
            };
            /** @description Permissions of the key; each operation names the permission that it requires */
            permissions: ("users.read" | "users.write" | "bookings.read" | "bookings.write" | "listings.read" | "listings.write")[];
            /** @description Networks from which the key is accepted; empty if it is accepted from anywhere */
            allowed_from: string[];
            /**
             * @description Status of the key; requests get 401 unless it is `active`
             * @enum {string}
             */
            status: "active" | "inactive" | "expired" | "revoked" | (string & {});
            /**
             * Format: date-time
             * @description Time at which the key expires; null if it never expires
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description Time at which the previous secret of a rotated key stops working; null if no rotation is in progress
             */
            previous_expires_at: string | null;
            /** @description Main rate limit of the key */
            rate_limit: {
                /** @description Number of requests allowed in any window */
                limit: number;
                /** @description Number of requests remaining in the current window */
                remaining: number;
                /** @description Length of the window, in seconds */
                window_seconds: number;
            };
            /** @description Usage of the key */
            usage: {
                /** @description Number of requests made with the key so far, at most 2 s out of date */
                count: number;
                /**
                 * Format: date-time
                 * @description Time at which the key was last used; null if never used
                 */
                last_used_at: string | null;
            };
        };
        Listing: {
            /** @description Our id for the listing */
            id: number;
            /** @description Globally unique second id of the listing */
            unique_id: string;
            /**
             * @description Status of the listing; changed by an administrator
             * @enum {string}
             */
            listing_status: "draft" | "pending" | "published" | "inactive" | (string & {});
            /** @description Your own id for the listing, unique within the host and compared exactly; determines which listing a create updates; null if not set */
            original_id: string | null;
            /**
             * Format: uri
             * @description URL of the listing on your site; used to recognize the listing if it was sent or stored without an `original_id`; compared as a browser reads it; stored, never fetched; null if not set
             */
            original_url: string | null;
            /** @description Name of the listing */
            name: string;
            /** @description Size of the property, in `property_size_unit`; null if not set */
            property_size: number | null;
            /** @description Unit of `property_size` (any word); null if not set */
            property_size_unit: string | null;
            /** @description Parking; null if not set */
            parking: string | null;
            /** @description Internet download speed, in Mbit/s; null if not set */
            internet_download: number | null;
            /** @description Internet upload speed, in Mbit/s; null if not set */
            internet_upload: number | null;
            /** @description Number of bedrooms; null if not set */
            bedrooms: number | null;
            /** @description Number of bathrooms; null if not set */
            bathrooms: number | null;
            /** @description Number of residents; null if not set */
            residents: number | null;
            /** @description Descriptions for guests */
            descriptions: {
                /** @description Description of the property; null if not set */
                property: string | null;
                /** @description Description of the neighbourhood; null if not set */
                neighborhood: string | null;
                /** @description Description of the residents; null if not set */
                community: string | null;
            };
            /** @description Location of the listing */
            location: {
                /** @description Street and number; null if not set */
                address: string | null;
                /** @description Postal code; null if not set */
                zip: string | null;
                /** @description Neighbourhood; null if not set */
                neighborhood: string | null;
                /** @description City; null if not set */
                city: string | null;
                /** @description State or region; null if not set */
                state: string | null;
                /** @description Country, as a name or a code; null if not set */
                country: string | null;
                /** @description Latitude, in degrees; null if not set */
                lat: number | null;
                /** @description Longitude, in degrees; null if not set */
                lng: number | null;
            };
            /** @description Amenities of the property; replaced as a whole by each write that includes this list */
            amenities: components["schemas"]["Reference"][];
            /** @description Prices that apply to the whole listing */
            prices: {
                /** @description ISO currency code of all prices in the listing; null if not set */
                currency: string | null;
                /** @description Kind of security deposit (any word); null if not set */
                security_deposit_type: string | null;
                /** @description Security deposit, in major units; null if not set */
                security_deposit: number | null;
                /** @description Fees in addition to the rent; replaced as a whole by each write that includes this list */
                extra_fees: components["schemas"]["ExtraFee"][];
            };
            /** @description Room types of the listing */
            room_types: components["schemas"]["RoomType"][];
            /** @description Booking rules */
            bookings: {
                /** @description Minimum length of a stay, in nights; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                stay_min: number | null;
                /** @description Minimum notice before moving out, in days; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                notice_min_days: number | null;
                /** @description Maximum number of days ahead that a guest may move in; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                move_in_max_days: number | null;
                /**
                 * Format: uri
                 * @description URL at which guests apply; stored, never fetched; null if not set
                 */
                application_url: string | null;
                /** @description Cancellation policy (any word); null if not set */
                cancellation_policy: string | null;
                /** @description Booking rules in prose; null if not set */
                booking_rules: string | null;
            };
            /** @description Residents of the property */
            community: {
                /** @description Minimum age of the residents; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                age_min: number | null;
                /** @description Maximum age of the residents; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                age_max: number | null;
                /** @description Average age of the residents; null if not set */
                age_avg: number | null;
                /** @description Gender of the residents; stored and shown, but no booking is checked against it, so check it before you book (any word); null if not set */
                gender: string | null;
                /** @description Gender ratio of the residents; null if not set */
                gender_ratio: number | null;
                /** @description Events; replaced as a whole by each write that includes this list */
                events: components["schemas"]["Reference"][];
                /** @description Community manager */
                community_manager: {
                    /** @description Name; null if not set */
                    name: string | null;
                    /**
                     * Format: uri
                     * @description URL of a photo of the manager; stored, never fetched; null if not set
                     */
                    photo: string | null;
                    /** @description Whether the manager is on site: 1 for yes, 0 for no; null if not set */
                    onsite: number | null;
                };
                /** @description Kinds of community; replaced as a whole by each write that includes this list */
                types: components["schemas"]["Reference"][];
            };
            /** @description Pictures and tours */
            media: {
                /**
                 * Format: uri
                 * @description URL of a 3D tour; stored, never fetched; null if not set
                 */
                "3d_tour": string | null;
                /** @description Video tour */
                video_tour: {
                    /** @description Hosting service of the video (any word); null if not set */
                    type: string | null;
                    /**
                     * Format: uri
                     * @description URL of the video; stored, never fetched; null if not set
                     */
                    url: string | null;
                };
                /** @description Photos */
                photos: {
                    /** @description Photos of the property; replaced as a whole by each write that includes this list */
                    property: components["schemas"]["Photo"][];
                    /** @description Photos of the community; replaced as a whole by each write that includes this list */
                    community: components["schemas"]["Photo"][];
                };
            };
            /** @description Instructions for arrival and departure */
            instructions: {
                /** @description Earliest check-in time, as HH:MM; null if not set */
                check_in_earliest: string | null;
                /** @description Latest check-in time, as HH:MM; null if not set */
                check_in_latest: string | null;
                /** @description Latest check-out time, as HH:MM; null if not set */
                check_out_latest: string | null;
                /** @description Name of the person who receives the guest; null if not set */
                check_in_contact_person: string | null;
                /** @description Country code of the check-in telephone number; null if not set */
                check_in_telephone_country: string | null;
                /** @description Check-in telephone number; null if not set */
                check_in_telephone_number: string | null;
                /** @description Instructions for check-in; null if not set */
                check_in_instructions: string | null;
                /** @description Directions to the property; null if not set */
                directions: string | null;
                /** @description House manual; null if not set */
                house_manual: string | null;
            };
            /** @description Frequently asked questions; replaced as a whole by each write that includes this list */
            faq: components["schemas"]["FrequentQuestion"][];
            /** @description External ratings */
            rating: {
                /** @description Id of the listing in an external directory of places; null if not set */
                places_id: string | null;
            };
            /**
             * Format: date-time
             * @description Time at which the listing was created
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time at which the listing or its rates last changed
             */
            updated_at: string;
        };
        ListingCreate: {
            /** @description Your own id for the listing, unique within the host and compared exactly; determines which listing a create updates; null if not set */
            original_id?: string | null;
            /**
             * Format: uri
             * @description URL of the listing on your site; used to recognize the listing if it was sent or stored without an `original_id`; compared as a browser reads it; stored, never fetched; null if not set
             */
            original_url?: string | null;
            /** @description Name of the listing, trimmed */
            name: string;
            /** @description Size of the property, in `property_size_unit`; null if not set */
            property_size?: number | null;
            /** @description Unit of `property_size` (any word); null if not set */
            property_size_unit?: string | null;
            /** @description Parking; null if not set */
            parking?: string | null;
            /** @description Internet download speed, in Mbit/s; null if not set */
            internet_download?: number | null;
            /** @description Internet upload speed, in Mbit/s; null if not set */
            internet_upload?: number | null;
            /** @description Number of bedrooms; null if not set */
            bedrooms?: number | null;
            /** @description Number of bathrooms; null if not set */
            bathrooms?: number | null;
            /** @description Number of residents; null if not set */
            residents?: number | null;
            /** @description Descriptions for guests */
            descriptions?: {
                /** @description Description of the property; null if not set */
                property?: string | null;
                /** @description Description of the neighbourhood; null if not set */
                neighborhood?: string | null;
                /** @description Description of the residents; null if not set */
                community?: string | null;
            };
            /** @description Location of the listing */
            location?: {
                /** @description Street and number; null if not set */
                address?: string | null;
                /** @description Postal code; null if not set */
                zip?: string | null;
                /** @description Neighbourhood; null if not set */
                neighborhood?: string | null;
                /** @description City; null if not set */
                city?: string | null;
                /** @description State or region; null if not set */
                state?: string | null;
                /** @description Country, as a name or a code; null if not set */
                country?: string | null;
                /** @description Latitude, in degrees; null if not set */
                lat?: number | null;
                /** @description Longitude, in degrees; null if not set */
                lng?: number | null;
            };
            /** @description Amenities of the property; replaced as a whole by each write that includes this list; at most 500 entries */
            amenities?: components["schemas"]["ReferenceWrite"][];
            /** @description Prices that apply to the whole listing */
            prices?: {
                /** @description ISO currency code of all prices in the listing; null if not set */
                currency?: string | null;
                /** @description Kind of security deposit (any word); null if not set */
                security_deposit_type?: string | null;
                /** @description Security deposit, in major units; null if not set */
                security_deposit?: number | null;
                /** @description Fees in addition to the rent; replaced as a whole by each write that includes this list; at most 500 entries */
                extra_fees?: components["schemas"]["ExtraFeeWrite"][];
            };
            /** @description Room types, merged by id; room types that are left out are kept; at most 500 entries */
            room_types?: components["schemas"]["RoomTypeWrite"][];
            /** @description Booking rules */
            bookings?: {
                /** @description Minimum length of a stay, in nights; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                stay_min?: number | null;
                /** @description Minimum notice before moving out, in days; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                notice_min_days?: number | null;
                /** @description Maximum number of days ahead that a guest may move in; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                move_in_max_days?: number | null;
                /**
                 * Format: uri
                 * @description URL at which guests apply; stored, never fetched; null if not set
                 */
                application_url?: string | null;
                /** @description Cancellation policy (any word); null if not set */
                cancellation_policy?: string | null;
                /** @description Booking rules in prose; null if not set */
                booking_rules?: string | null;
            };
            /** @description Residents of the property */
            community?: {
                /** @description Minimum age of the residents; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                age_min?: number | null;
                /** @description Maximum age of the residents; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                age_max?: number | null;
                /** @description Average age of the residents; null if not set */
                age_avg?: number | null;
                /** @description Gender of the residents; stored and shown, but no booking is checked against it, so check it before you book (any word); null if not set */
                gender?: string | null;
                /** @description Gender ratio of the residents; null if not set */
                gender_ratio?: number | null;
                /** @description Events; replaced as a whole by each write that includes this list; at most 500 entries */
                events?: components["schemas"]["ReferenceWrite"][];
                /** @description Community manager */
                community_manager?: {
                    /** @description Name; null if not set */
                    name?: string | null;
                    /**
                     * Format: uri
                     * @description URL of a photo of the manager; stored, never fetched; null if not set
                     */
                    photo?: string | null;
                    /** @description Whether the manager is on site: 1 for yes, 0 for no; null if not set */
                    onsite?: number | null;
                };
                /** @description Kinds of community; replaced as a whole by each write that includes this list; at most 500 entries */
                types?: components["schemas"]["ReferenceWrite"][];
            };
            /** @description Pictures and tours */
            media?: {
                /**
                 * Format: uri
                 * @description URL of a 3D tour; stored, never fetched; null if not set
                 */
                "3d_tour"?: string | null;
                /** @description Video tour */
                video_tour?: {
                    /** @description Hosting service of the video (any word); null if not set */
                    type?: string | null;
                    /**
                     * Format: uri
                     * @description URL of the video; stored, never fetched; null if not set
                     */
                    url?: string | null;
                };
                /** @description Photos */
                photos?: {
                    /** @description Photos of the property; replaced as a whole by each write that includes this list; at most 500 entries */
                    property?: components["schemas"]["PhotoWrite"][];
                    /** @description Photos of the community; replaced as a whole by each write that includes this list; at most 500 entries */
                    community?: components["schemas"]["PhotoWrite"][];
                };
            };
            /** @description Instructions for arrival and departure */
            instructions?: {
                /** @description Earliest check-in time, as HH:MM; null if not set */
                check_in_earliest?: string | null;
                /** @description Latest check-in time, as HH:MM; null if not set */
                check_in_latest?: string | null;
                /** @description Latest check-out time, as HH:MM; null if not set */
                check_out_latest?: string | null;
                /** @description Name of the person who receives the guest; null if not set */
                check_in_contact_person?: string | null;
                /** @description Country code of the check-in telephone number; null if not set */
                check_in_telephone_country?: string | null;
                /** @description Check-in telephone number; null if not set */
                check_in_telephone_number?: string | null;
                /** @description Instructions for check-in; null if not set */
                check_in_instructions?: string | null;
                /** @description Directions to the property; null if not set */
                directions?: string | null;
                /** @description House manual; null if not set */
                house_manual?: string | null;
            };
            /** @description Frequently asked questions; replaced as a whole by each write that includes this list; at most 500 entries */
            faq?: components["schemas"]["FrequentQuestionWrite"][];
            /** @description External ratings */
            rating?: {
                /** @description Id of the listing in an external directory of places; null if not set */
                places_id?: string | null;
            };
        };
        ListingPatch: {
            /** @description Your own id for the listing, unique within the host and compared exactly; determines which listing a create updates; null if not set */
            original_id?: string | null;
            /**
             * Format: uri
             * @description URL of the listing on your site; used to recognize the listing if it was sent or stored without an `original_id`; compared as a browser reads it; stored, never fetched; null if not set
             */
            original_url?: string | null;
            /** @description Name of the listing, trimmed */
            name?: string;
            /** @description Size of the property, in `property_size_unit`; null if not set */
            property_size?: number | null;
            /** @description Unit of `property_size` (any word); null if not set */
            property_size_unit?: string | null;
            /** @description Parking; null if not set */
            parking?: string | null;
            /** @description Internet download speed, in Mbit/s; null if not set */
            internet_download?: number | null;
            /** @description Internet upload speed, in Mbit/s; null if not set */
            internet_upload?: number | null;
            /** @description Number of bedrooms; null if not set */
            bedrooms?: number | null;
            /** @description Number of bathrooms; null if not set */
            bathrooms?: number | null;
            /** @description Number of residents; null if not set */
            residents?: number | null;
            /** @description Descriptions for guests */
            descriptions?: {
                /** @description Description of the property; null if not set */
                property?: string | null;
                /** @description Description of the neighbourhood; null if not set */
                neighborhood?: string | null;
                /** @description Description of the residents; null if not set */
                community?: string | null;
            };
            /** @description Location of the listing */
            location?: {
                /** @description Street and number; null if not set */
                address?: string | null;
                /** @description Postal code; null if not set */
                zip?: string | null;
                /** @description Neighbourhood; null if not set */
                neighborhood?: string | null;
                /** @description City; null if not set */
                city?: string | null;
                /** @description State or region; null if not set */
                state?: string | null;
                /** @description Country, as a name or a code; null if not set */
                country?: string | null;
                /** @description Latitude, in degrees; null if not set */
                lat?: number | null;
                /** @description Longitude, in degrees; null if not set */
                lng?: number | null;
            };
            /** @description Amenities of the property; replaced as a whole by each write that includes this list; at most 500 entries */
            amenities?: components["schemas"]["ReferenceWrite"][];
            /** @description Prices that apply to the whole listing */
            prices?: {
                /** @description ISO currency code of all prices in the listing; null if not set */
                currency?: string | null;
                /** @description Kind of security deposit (any word); null if not set */
                security_deposit_type?: string | null;
                /** @description Security deposit, in major units; null if not set */
                security_deposit?: number | null;
                /** @description Fees in addition to the rent; replaced as a whole by each write that includes this list; at most 500 entries */
                extra_fees?: components["schemas"]["ExtraFeeWrite"][];
            };
            /** @description Room types, merged by id; room types that are left out are kept; at most 500 entries */
            room_types?: components["schemas"]["RoomTypeWrite"][];
            /** @description Booking rules */
            bookings?: {
                /** @description Minimum length of a stay, in nights; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                stay_min?: number | null;
                /** @description Minimum notice before moving out, in days; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                notice_min_days?: number | null;
                /** @description Maximum number of days ahead that a guest may move in; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                move_in_max_days?: number | null;
                /**
                 * Format: uri
                 * @description URL at which guests apply; stored, never fetched; null if not set
                 */
                application_url?: string | null;
                /** @description Cancellation policy (any word); null if not set */
                cancellation_policy?: string | null;
                /** @description Booking rules in prose; null if not set */
                booking_rules?: string | null;
            };
            /** @description Residents of the property */
            community?: {
                /** @description Minimum age of the residents; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                age_min?: number | null;
                /** @description Maximum age of the residents; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
                age_max?: number | null;
                /** @description Average age of the residents; null if not set */
                age_avg?: number | null;
                /** @description Gender of the residents; stored and shown, but no booking is checked against it, so check it before you book (any word); null if not set */
                gender?: string | null;
                /** @description Gender ratio of the residents; null if not set */
                gender_ratio?: number | null;
                /** @description Events; replaced as a whole by each write that includes this list; at most 500 entries */
                events?: components["schemas"]["ReferenceWrite"][];
                /** @description Community manager */
                community_manager?: {
                    /** @description Name; null if not set */
                    name?: string | null;
                    /**
                     * Format: uri
                     * @description URL of a photo of the manager; stored, never fetched; null if not set
                     */
                    photo?: string | null;
                    /** @description Whether the manager is on site: 1 for yes, 0 for no; null if not set */
                    onsite?: number | null;
                };
                /** @description Kinds of community; replaced as a whole by each write that includes this list; at most 500 entries */
                types?: components["schemas"]["ReferenceWrite"][];
            };
            /** @description Pictures and tours */
            media?: {
                /**
                 * Format: uri
                 * @description URL of a 3D tour; stored, never fetched; null if not set
                 */
                "3d_tour"?: string | null;
                /** @description Video tour */
                video_tour?: {
                    /** @description Hosting service of the video (any word); null if not set */
                    type?: string | null;
                    /**
                     * Format: uri
                     * @description URL of the video; stored, never fetched; null if not set
                     */
                    url?: string | null;
                };
                /** @description Photos */
                photos?: {
                    /** @description Photos of the property; replaced as a whole by each write that includes this list; at most 500 entries */
                    property?: components["schemas"]["PhotoWrite"][];
                    /** @description Photos of the community; replaced as a whole by each write that includes this list; at most 500 entries */
                    community?: components["schemas"]["PhotoWrite"][];
                };
            };
            /** @description Instructions for arrival and departure */
            instructions?: {
                /** @description Earliest check-in time, as HH:MM; null if not set */
                check_in_earliest?: string | null;
                /** @description Latest check-in time, as HH:MM; null if not set */
                check_in_latest?: string | null;
                /** @description Latest check-out time, as HH:MM; null if not set */
                check_out_latest?: string | null;
                /** @description Name of the person who receives the guest; null if not set */
                check_in_contact_person?: string | null;
                /** @description Country code of the check-in telephone number; null if not set */
                check_in_telephone_country?: string | null;
                /** @description Check-in telephone number; null if not set */
                check_in_telephone_number?: string | null;
                /** @description Instructions for check-in; null if not set */
                check_in_instructions?: string | null;
                /** @description Directions to the property; null if not set */
                directions?: string | null;
                /** @description House manual; null if not set */
                house_manual?: string | null;
            };
            /** @description Frequently asked questions; replaced as a whole by each write that includes this list; at most 500 entries */
            faq?: components["schemas"]["FrequentQuestionWrite"][];
            /** @description External ratings */
            rating?: {
                /** @description Id of the listing in an external directory of places; null if not set */
                places_id?: string | null;
            };
        };
        ListingSummary: {
            /** @description Our id for the listing */
            id: number;
            /** @description Globally unique second id of the listing */
            unique_id: string;
            /** @description Your own id for the listing; null if not set */
            original_id: string | null;
            /** @description Name of the listing */
            name: string;
            /**
             * @description Status of the listing; changed by an administrator
             * @enum {string}
             */
            listing_status: "draft" | "pending" | "published" | "inactive" | (string & {});
            /**
             * Format: date-time
             * @description Time at which the listing or its rates last changed
             */
            updated_at: string;
            /** @description Room types of the listing */
            room_types: components["schemas"]["RoomTypeName"][];
        };
        ListingWriteResult: {
            /**
             * @description Action that was taken
             * @enum {string}
             */
            action: "created" | "updated" | (string & {});
            /** @description Listing that was written */
            data: {
                /** @description Our id for the listing */
                id: number;
                /** @description Your own id for the listing; null if not set */
                original_id: string | null;
                /** @description Links to the listing */
                links: {
                    /**
                     * Format: uri
                     * @description URL of a preview page
                     */
                    preview: string;
                };
                /** @description All room types of the listing, to match your own ids with ours */
                room_types: components["schemas"]["RoomTypeIds"][];
            };
            /** @description Metadata of the response */
            meta: {
                /** @description Id of the request, to quote when contacting support */
                request_id?: string;
                /**
                 * @description True in the sandbox; absent on live data
                 * @constant
                 */
                sandbox?: true;
                /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                ignored?: string[];
            };
        };
        Message: {
            /** @description Id of the message */
            id: number;
            /**
             * @description Side that sent the message
             * @enum {string}
             */
            sender: "guest" | "host" | (string & {});
            /** @description Name of the sender at the time of sending */
            sender_name: string;
            /** @description Text of the message */
            text: string;
            /** @description Whether the message has been seen; reading it through this API does not mark it as seen */
            is_seen: boolean;
            /**
             * Format: date-time
             * @description Time at which the message was sent
             */
            sent_at: string;
        };
        MessageCreate: {
            /** @description Message to the guest */
            message: {
                /** @description Text of the message, trimmed; sent again within a minute, while it is the last message of the conversation, it is not delivered twice */
                text: string;
            };
        };
        NewMessage: {
            /** @description Id of the message */
            id: number;
            /**
             * @description Side that sent the message
             * @enum {string}
             */
            sender: "guest" | "host" | (string & {});
            /** @description Name of the sender at the time of sending */
            sender_name: string;
            /** @description Text of the message */
            text: string;
            /** @description Whether the message has been seen; reading it through this API does not mark it as seen */
            is_seen: boolean;
            /**
             * Format: date-time
             * @description Time at which the message was sent
             */
            sent_at: string;
            /** @description Id of the booking that the message belongs to */
            booking_id: number;
            /** @description Id of the booking's listing */
            listing_id: number;
            /** @description Version of this message, in UTC; pass the last version received as `updated_after` */
            version: string;
            /**
             * Format: date-time
             * @description Time at which the text was erased; null if it has not been erased
             */
            erased_at: string | null;
        };
        Night: {
            /**
             * Format: date
             * @description Date on which the night begins
             */
            date: string;
            /** @description Number of units in the range that covers the night; null if no range covers it, in which case the night is open */
            available: number | null;
            /** @description Number of active stays made since the range was written, or of all active stays if no range covers the night */
            booked: number;
            /** @description Number of rooms that their calendars block and that `available` does not take into account */
            blocked: number;
            /** @description `available` less `booked` and `blocked`, at least 0; a booking is refused at 0; null if the night is open */
            left: number | null;
        };
        NightRange: {
            /**
             * Format: date
             * @description First night
             */
            start_date: string;
            /**
             * Format: date
             * @description Day after the last night
             */
            end_date: string;
        };
        Pagination: {
            /** @description Number of the requested page */
            current_page: number;
            /** @description Maximum number of items per page */
            per_page: number;
            /** @description Total number of matching items across all pages */
            total: number;
            /** @description Number of the last page; there are more pages while it is greater than `current_page` */
            last_page: number;
            /** @description Position of the first item on this page, starting at 1; null if the page is empty */
            from: number | null;
            /** @description Position of the last item on this page, starting at 1; null if the page is empty */
            to: number | null;
        };
        Photo: {
            /**
             * Format: uri
             * @description URL of the picture; stored, never fetched; null if not set
             */
            url: string | null;
            /** @description Description of the picture; null if not set */
            description: string | null;
        };
        PhotoWrite: {
            /**
             * Format: uri
             * @description URL of the picture; stored, never fetched; null if not set
             */
            url?: string | null;
            /** @description Description of the picture; null if not set */
            description?: string | null;
        };
        /** @description One problem with the request */
        Problem: {
            /** @description Path of the field, with dots and indexes, such as `room_types.0.name` */
            path: string;
            /** @description Machine-readable code of the problem; later versions of the service may add codes */
            code: string;
            /** @description Human-readable description of the problem */
            message: string;
        };
        ProviderKeyResult: {
            /**
             * @description Outcome of storing the key
             * @enum {string}
             */
            status: "created" | "updated" | "unchanged" | (string & {});
            /** @description Outcome in words */
            message: string;
        };
        ProviderKeyWrite: {
            /** @description Host's own key at the provider, trimmed; stored encrypted and never shown again */
            provider_api_key: string;
        };
        RateItem: {
            /** @description Id of the listing */
            listing_id: number | string;
            /** @description Id of a room type of that listing */
            room_type_id: number | string;
            /** @description Price for months that have no price of their own, in major units */
            base_price: number;
            /** @description ISO currency code, which must be the listing's currency, or the service's default if the listing has none; null or absent means that currency */
            currency?: string | null;
            /** @description Price for January, in major units; null clears the price, and an absent field keeps it */
            price_jan?: number | null;
            /** @description Price for February, in major units; null clears the price, and an absent field keeps it */
            price_feb?: number | null;
            /** @description Price for March, in major units; null clears the price, and an absent field keeps it */
            price_mar?: number | null;
            /** @description Price for April, in major units; null clears the price, and an absent field keeps it */
            price_apr?: number | null;
            /** @description Price for May, in major units; null clears the price, and an absent field keeps it */
            price_may?: number | null;
            /** @description Price for June, in major units; null clears the price, and an absent field keeps it */
            price_jun?: number | null;
            /** @description Price for July, in major units; null clears the price, and an absent field keeps it */
            price_jul?: number | null;
            /** @description Price for August, in major units; null clears the price, and an absent field keeps it */
            price_aug?: number | null;
            /** @description Price for September, in major units; null clears the price, and an absent field keeps it */
            price_sep?: number | null;
            /** @description Price for October, in major units; null clears the price, and an absent field keeps it */
            price_oct?: number | null;
            /** @description Price for November, in major units; null clears the price, and an absent field keeps it */
            price_nov?: number | null;
            /** @description Price for December, in major units; null clears the price, and an absent field keeps it */
            price_dec?: number | null;
        };
        RateJob: {
            /** @description Id of the job, returned as `meta.job_id` by the write */
            id: number;
            /**
             * @description Status of the job: the rates are waiting, have been applied and are visible to everyone, or failed as a whole
             * @enum {string}
             */
            status: "waiting" | "applied" | "failed" | (string & {});
            /** @description Problems that made the job fail, by item; empty if it has not failed */
            errors: {
                /** @description Path of the problem in the request, such as `data.0.room_type_id` */
                path: string;
                /** @description Code for the kind of problem */
                code: string;
                /** @description Human-readable description of what is expected at this path */
                message: string;
            }[];
            /**
             * Format: date-time
             * @description Time at which the write was accepted
             */
            accepted_at: string;
            /**
             * Format: date-time
             * @description Time at which the rates were applied; null if they have not been applied
             */
            applied_at: string | null;
            /** @description Number of items in the write */
            items: number;
        };
        RatesWrite: {
            /** @description Items to write, all or nothing; if items conflict, the later one wins; at most 1000 entries */
            data: components["schemas"]["RateItem"][];
        };
        Reference: {
            /** @description Id of the entry in the platform's own list */
            id: number;
        };
        ReferenceWrite: {
            /** @description Id of the entry in the platform's own list */
            id: number | string;
        };
        Request: {
            /** @description Id of the entry; unique, unlike a request id, which may repeat */
            id: string;
            /** @description `X-Request-Id` of the response; null if request ids are switched off */
            request_id: string | null;
            /**
             * Format: date-time
             * @description Time at which the request arrived
             */
            at: string;
            /** @description Method of the request */
            method: string;
            /** @description Path of the request without its query; `…` stands for malformed parts */
            path: string;
            /** @description Status of the response; 0 if a sandbox fault left the request without a response */
            status: number;
            /** @description Error in the response; null if the request succeeded */
            error: {
                /** @description Kind of error, as in the response */
                type: string;
                /** @description Description of the error */
                message: string;
                /** @description Individual problems, at most the first 20 */
                errors: {
                    /** @description Path of the problem in the request, such as `data.0.room_type_id` */
                    path: string;
                    /** @description Code for the kind of problem */
                    code: string;
                    /** @description Human-readable description of what is expected at this path */
                    message: string;
                }[];
            } | null;
            /** @description Duration of the request in milliseconds, excluding the time for which `wait` held it */
            duration_ms: number;
            /** @description True if the response replayed an earlier one with the same `Idempotency-Key` */
            replayed: boolean;
            /** @description True for a request to the sandbox */
            sandbox: boolean;
            /** @description Client address of the request */
            address: string;
            /** @description Sandbox fault that the request met; null if none */
            fault: string | null;
        };
        RequestCount: {
            /**
             * Format: date-time
             * @description Start of the minute; minutes without requests are omitted
             */
            at: string;
            /** @description Number of responses with a status below 400 */
            succeeded: number;
            /** @description Number of responses with a status from 400 to 499, except 429 */
            refused: number;
            /** @description Number of responses with status 429 because the rate limit was exceeded */
            limited: number;
            /** @description Number of responses with a status of 500 or above */
            failed: number;
            /** @description Number of requests that a sandbox fault left without a response */
            unanswered: number;
        };
        Room: {
            /** @description Id assigned by this service */
            id: number;
            /** @description Your own id for the room; null if you sent none */
            original_id: string | null;
            /** @description Name of the room, trimmed; must not be null once a name is stored */
            name: string | null;
            /** @description Description of the room; null if not set */
            description: string | null;
            /** @description External source of the room's availability */
            availability: {
                /** @description Address (https or webcal) of an iCalendar file, which is read soon and then every 15 minutes; what it takes is not sold here (see the calendar's entry); null if not set */
                ical: string | null;
            };
        };
        RoomIds: {
            /** @description Our id for the room */
            id: number;
            /** @description Your own id for the room; null if you sent none */
            original_id: string | null;
        };
        RoomName: {
            /** @description Our id for the room */
            id: number;
            /** @description Your own id for the room; null if you sent none */
            original_id: string | null;
            /** @description Name of the room; null if it has no name */
            name: string | null;
        };
        RoomType: {
            /** @description Id assigned by this service */
            id: number;
            /** @description Your own id for the room type; null if you sent none */
            original_id: string | null;
            /** @description Name of the room type, trimmed; must not be null once a name is stored */
            name: string | null;
            /** @description Kind of room (any word); null if not set */
            room_type: string | null;
            /** @description Kind of bed (any word); null if not set */
            bed_type: string | null;
            /** @description Kind of bathroom (any word); null if not set */
            bathroom_type: string | null;
            /** @description Gender of the guests to whom the room is let; stored and shown, but no booking is checked against it, so check it before you book (any word); null if not set */
            gender: string | null;
            /**
             * Format: uri
             * @description URL at which guests apply; stored, never fetched; null if not set
             */
            application_url: string | null;
            /** @description Size of the room, in `room_size_unit`; null if not set */
            room_size: number | null;
            /** @description Unit of `room_size` (any word); null if not set */
            room_size_unit: string | null;
            /** @description Maximum number of occupants; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
            max_occupancy: number | null;
            /**
             * Format: date
             * @description Earliest move-in date; stored and shown, but no booking is checked against it, so check it before you book; null if not set
             */
            available_at: string | null;
            /** @description Rooms of the room type */
            rooms: components["schemas"]["Room"][];
            prices: components["schemas"]["RoomTypePrices"];
            /** @description Amenities of the room type; replaced as a whole by each write that includes this list */
            amenities: components["schemas"]["Reference"][];
            /** @description Photos of the room type; replaced as a whole by each write that includes this list */
            photos: components["schemas"]["Photo"][];
        };
        RoomTypeIds: {
            /** @description Our id for the room type */
            id: number;
            /** @description Your own id for the room type; null if you sent none */
            original_id: string | null;
            /** @description Rooms of the room type */
            rooms: components["schemas"]["RoomIds"][];
        };
        RoomTypeName: {
            /** @description Our id for the room type */
            id: number;
            /** @description Your own id for the room type; null if you sent none */
            original_id: string | null;
            /** @description Name of the room type; null if it has no name */
            name: string | null;
            /** @description Rooms of the room type */
            rooms: components["schemas"]["RoomName"][];
        };
        RoomTypePrices: {
            /** @description Price for months that have no price of their own, in major units; null if not set */
            base_price: number | null;
            /** @description Price for January, replacing the base price, in major units; null if not set */
            price_jan: number | null;
            /** @description Price for February, replacing the base price, in major units; null if not set */
            price_feb: number | null;
            /** @description Price for March, replacing the base price, in major units; null if not set */
            price_mar: number | null;
            /** @description Price for April, replacing the base price, in major units; null if not set */
            price_apr: number | null;
            /** @description Price for May, replacing the base price, in major units; null if not set */
            price_may: number | null;
            /** @description Price for June, replacing the base price, in major units; null if not set */
            price_jun: number | null;
            /** @description Price for July, replacing the base price, in major units; null if not set */
            price_jul: number | null;
            /** @description Price for August, replacing the base price, in major units; null if not set */
            price_aug: number | null;
            /** @description Price for September, replacing the base price, in major units; null if not set */
            price_sep: number | null;
            /** @description Price for October, replacing the base price, in major units; null if not set */
            price_oct: number | null;
            /** @description Price for November, replacing the base price, in major units; null if not set */
            price_nov: number | null;
            /** @description Price for December, replacing the base price, in major units; null if not set */
            price_dec: number | null;
            /** @description Discount for stays of 90 nights or more, in percent; 0 or null if not set */
            discount_90: number | null;
            /** @description Discount for stays of 180 nights or more, replacing the discount for shorter stays, in percent; 0 or null if not set */
            discount_180: number | null;
            /** @description Discount for stays of 360 nights or more, replacing the discounts for shorter stays, in percent; 0 or null if not set */
            discount_360: number | null;
        };
        RoomTypePricesWrite: {
            /** @description Price for months that have no price of their own, in major units; null if not set */
            base_price?: number | null;
            /** @description Price for January, replacing the base price, in major units; null if not set */
            price_jan?: number | null;
            /** @description Price for February, replacing the base price, in major units; null if not set */
            price_feb?: number | null;
            /** @description Price for March, replacing the base price, in major units; null if not set */
            price_mar?: number | null;
            /** @description Price for April, replacing the base price, in major units; null if not set */
            price_apr?: number | null;
            /** @description Price for May, replacing the base price, in major units; null if not set */
            price_may?: number | null;
            /** @description Price for June, replacing the base price, in major units; null if not set */
            price_jun?: number | null;
            /** @description Price for July, replacing the base price, in major units; null if not set */
            price_jul?: number | null;
            /** @description Price for August, replacing the base price, in major units; null if not set */
            price_aug?: number | null;
            /** @description Price for September, replacing the base price, in major units; null if not set */
            price_sep?: number | null;
            /** @description Price for October, replacing the base price, in major units; null if not set */
            price_oct?: number | null;
            /** @description Price for November, replacing the base price, in major units; null if not set */
            price_nov?: number | null;
            /** @description Price for December, replacing the base price, in major units; null if not set */
            price_dec?: number | null;
            /** @description Discount for stays of 90 nights or more, in percent; 0 or null if not set */
            discount_90?: number | null;
            /** @description Discount for stays of 180 nights or more, replacing the discount for shorter stays, in percent; 0 or null if not set */
            discount_180?: number | null;
            /** @description Discount for stays of 360 nights or more, replacing the discounts for shorter stays, in percent; 0 or null if not set */
            discount_360?: number | null;
        };
        RoomTypeWrite: {
            /** @description Id of the room type: our id as an integer or, on create, your own as a string; null or absent to add a new one */
            id?: number | string | null;
            /** @description Name of the room type, trimmed; must not be null once a name is stored */
            name?: string | null;
            /** @description Kind of room (any word); null if not set */
            room_type?: string | null;
            /** @description Kind of bed (any word); null if not set */
            bed_type?: string | null;
            /** @description Kind of bathroom (any word); null if not set */
            bathroom_type?: string | null;
            /** @description Gender of the guests to whom the room is let; stored and shown, but no booking is checked against it, so check it before you book (any word); null if not set */
            gender?: string | null;
            /**
             * Format: uri
             * @description URL at which guests apply; stored, never fetched; null if not set
             */
            application_url?: string | null;
            /** @description Size of the room, in `room_size_unit`; null if not set */
            room_size?: number | null;
            /** @description Unit of `room_size` (any word); null if not set */
            room_size_unit?: string | null;
            /** @description Maximum number of occupants; stored and shown, but no booking is checked against it, so check it before you book; null if not set */
            max_occupancy?: number | null;
            /**
             * Format: date
             * @description Earliest move-in date; stored and shown, but no booking is checked against it, so check it before you book; null if not set
             */
            available_at?: string | null;
            /** @description Rooms of the room type, merged by id; rooms that are left out are kept; at most 500 entries */
            rooms?: components["schemas"]["RoomWrite"][];
            prices?: components["schemas"]["RoomTypePricesWrite"];
            /** @description Amenities of the room type; replaced as a whole by each write that includes this list; at most 500 entries */
            amenities?: components["schemas"]["ReferenceWrite"][];
            /** @description Photos of the room type; replaced as a whole by each write that includes this list; at most 500 entries */
            photos?: components["schemas"]["PhotoWrite"][];
        };
        RoomWrite: {
            /** @description Id of the room: our id as an integer or, on create, your own as a string; null or absent to add a new one */
            id?: number | string | null;
            /** @description Name of the room, trimmed; must not be null once a name is stored */
            name?: string | null;
            /** @description Description of the room; null if not set */
            description?: string | null;
            /** @description External source of the room's availability */
            availability?: {
                /**
                 * Format: uri
                 * @description Address (https or webcal) of an iCalendar file, which is read soon and then every 15 minutes; what it takes is not sold here (see the calendar's entry); null if not set
                 */
                ical?: string | null;
            };
        };
        SandboxClock: {
            /**
             * Format: date-time
             * @description Current time in the sandbox
             */
            now: string;
            /** @description Number of seconds that the sandbox clock is ahead of real time */
            advanced_seconds: number;
        };
        SandboxFault: {
            /**
             * @description Fault that requests or hints meet
             * @enum {string}
             */
            fault: "rate_limited" | "internal_error" | "bad_gateway" | "unauthorized" | "slow" | "lost_request" | "lost_response" | "cut_response" | "hint_lost" | "hint_twice" | "hint_late" | "hint_forged" | "hint_old" | (string & {});
            /** @description Operation whose requests meet the fault; null for all operations */
            operation: string | null;
            /** @description Event whose hints meet the fault; null for all events */
            event: string | null;
            /** @description Number of requests or hints that pass before the first fault */
            after: number;
            /** @description Number of requests or hints that then meet the fault */
            times: number;
            /** @description `Retry-After` of `rate_limited`, in seconds */
            retry_after_seconds: number;
            /** @description Delay of `slow` and `hint_late`, in milliseconds */
            delay_milliseconds: number;
            /** @description Remaining counts of the rule */
            left: {
                /** @description Number of requests or hints still to pass */
                after: number;
                /** @description Number of requests or hints still to meet the fault */
                times: number;
            };
        };
        SandboxFaults: {
            /** @description Fault rules, in order */
            rules: components["schemas"]["SandboxFault"][];
        };
        SandboxFaultsWrite: {
            /** @description Fault rules; the first matching rule that is not used up applies; at most 20 entries */
            rules: {
                /**
                 * @description Fault that requests or hints meet
                 * @enum {string}
                 */
                fault: "rate_limited" | "internal_error" | "bad_gateway" | "unauthorized" | "slow" | "lost_request" | "lost_response" | "cut_response" | "hint_lost" | "hint_twice" | "hint_late" | "hint_forged" | "hint_old";
                /** @description Operation whose requests meet the fault, by its id below `/v1`; null or absent for all operations */
                operation?: string | null;
                /** @description Event whose hints meet the fault, for a fault of hints; null or absent for all events */
                event?: ("booking.changed" | "message.created") | null;
                /**
                 * @description Number of requests or hints that pass before the first fault
                 * @default 0
                 */
                after?: number;
                /**
                 * @description Number of requests or hints that then meet the fault
                 * @default 1
                 */
                times?: number;
                /**
                 * @description `Retry-After` of `rate_limited`, in seconds
                 * @default 5
                 */
                retry_after_seconds?: number;
                /**
                 * @description Delay of `slow` and `hint_late`, in milliseconds
                 * @default 2000
                 */
                delay_milliseconds?: number;
            }[];
        };
        SandboxScenario: {
            /** @description Name of the scenario */
            name: string;
            /** @description Event that the scenario plays, and the integration mistake that it reveals */
            summary: string;
            /** @description Parameters that the scenario takes */
            parameters: string[];
        };
        SandboxScenarioParameters: {
            /** @description Id of the listing in which the scenario plays; null for the first listing with units left */
            listing_id?: number | string | null;
            /** @description Id of the booking that the scenario is about; null for the newest suitable booking */
            booking_id?: number | string | null;
            /** @description Number of guests, messages, or stays of each status, depending on the scenario; null for 1 */
            count?: number | null;
            /**
             * Format: date
             * @description First night of the stays, which last 30 nights each; null for 30 days from today
             */
            checkin_at?: string | null;
        };
        SandboxScenarioPlayed: {
            /** @description Name of the scenario that was played */
            scenario: string;
            /** @description Bookings that the scenario made or changed, in order */
            bookings: {
                /** @description Id of the booking */
                booking_id: number;
                /**
                 * @description Status of the booking
                 * @enum {string}
                 */
                status: "pending" | "confirmed" | "cancelled" | (string & {});
            }[];
            /** @description Messages that guests wrote, in order */
            messages: {
                /** @description Id of the message */
                id: number;
                /** @description Id of the booking */
                booking_id: number;
            }[];
            /** @description Id of the listing in which the scenario played; null for several */
            listing_id: number | null;
            /** @description Id of the room type in which the scenario played; null for several */
            room_type_id: number | null;
            /** @description Nights that had one unit left */
            nights: string[];
        };
        SkippedEvent: {
            /** @description Number of the event's first line in the file, starting at 1 */
            line: number;
            /**
             * @description `no_dates` if it has none; `dates` if they cannot be read or the event ends before it begins; `frequency` for a repetition that is unknown or more frequent than daily; `too_many` for too many repetitions
             * @enum {string}
             */
            reason: "no_dates" | "dates" | "frequency" | "too_many" | (string & {});
        };
        User: {
            /** @description Id of the user */
            user_id: number;
            /** @description Formatted first and last name; only the first name if there is no last name */
            name: string;
            /**
             * Format: email
             * @description E-mail address, trimmed and in lower case; unique among the host's users
             */
            email: string;
            /** @description First name; title-cased if it is all upper case or all lower case */
            first_name: string;
            /** @description Last name; title-cased if it is all upper case or all lower case; empty for a guest with one name */
            last_name: string;
            /** @description Telephone number as written by the guest; null if unknown */
            phone: string | null;
            /**
             * Format: date
             * @description Date of birth; must be in the past; null if unknown
             */
            date_of_birth: string | null;
            /** @description Gender (any word); null if unknown */
            gender: string | null;
            /** @description Country, as a name in any language, a two-letter code, or a three-letter code in upper case; kept as sent; null if unknown */
            country: string | null;
            /** @description City; null if unknown */
            city: string | null;
            /** @description IANA time zone in its canonical spelling; `UTC` if null or absent */
            timezone: string;
            /** @description Short language code in its canonical spelling; `en` if null or absent; if sent, it decides what a country name means that two countries share */
            language: string;
            /** @description Status of the account: 1 for active */
            status: number;
            /**
             * @description Role of the account
             * @enum {string}
             */
            role_name: "user";
            /**
             * @description Lifecycle of the account
             * @enum {string}
             */
            lifecycle: "subscriber";
            /**
             * Format: date-time
             * @description Time at which the e-mail address was verified; null if it has not been verified
             */
            email_verified_at: string | null;
            /**
             * Format: date-time
             * @description Time of the last login; time of creation if there has been no login
             */
            login_at: string;
            /** @description Number of logins; 1 on creation */
            login_amount: number;
            /** @description IP address of the client that created the account */
            login_ip: string;
            /**
             * @description Source of the account
             * @enum {string}
             */
            source: "api";
            /** @description Whether the account was created through this API */
            api_created: boolean;
            /**
             * Format: date-time
             * @description Time at which the account was created
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time at which the account was last changed
             */
            updated_at: string;
        };
        UserCreate: {
            /**
             * Format: email
             * @description E-mail address, trimmed and in lower case; unique among the host's users
             */
            email: string;
            /** @description Password of the account, 8 to 128 characters; never shown again; null for an account without a password */
            password?: string | null;
            /** @description First name; title-cased if it is all upper case or all lower case */
            first_name: string;
            /** @description Last name; title-cased if it is all upper case or all lower case; empty for a guest with one name */
            last_name?: string | null;
            /** @description Telephone number as written by the guest; null if unknown */
            phone?: string | null;
            /**
             * Format: date
             * @description Date of birth; must be in the past; null if unknown
             */
            date_of_birth?: string | null;
            /** @description Gender (any word); null if unknown */
            gender?: string | null;
            /** @description Country, as a name in any language, a two-letter code, or a three-letter code in upper case; kept as sent; null if unknown */
            country?: string | null;
            /** @description City; null if unknown */
            city?: string | null;
            /** @description IANA time zone in its canonical spelling; `UTC` if null or absent */
            timezone?: string | null;
            /** @description Short language code in its canonical spelling; `en` if null or absent; if sent, it decides what a country name means that two countries share */
            language?: string | null;
        };
        UserInFull: {
            /** @description Id of the user */
            user_id: number;
            /** @description Formatted first and last name; only the first name if there is no last name */
            name: string;
            /**
             * Format: email
             * @description E-mail address, trimmed and in lower case; unique among the host's users
             */
            email: string;
            /** @description First name; title-cased if it is all upper case or all lower case */
            first_name: string;
            /** @description Last name; title-cased if it is all upper case or all lower case; empty for a guest with one name */
            last_name: string;
            /** @description Telephone number as written by the guest; null if unknown */
            phone: string | null;
            /**
             * Format: date
             * @description Date of birth; must be in the past; null if unknown
             */
            date_of_birth: string | null;
            /** @description Gender (any word); null if unknown */
            gender: string | null;
            /** @description Country, as a name in any language, a two-letter code, or a three-letter code in upper case; kept as sent; null if unknown */
            country: string | null;
            /** @description City; null if unknown */
            city: string | null;
            /** @description IANA time zone in its canonical spelling; `UTC` if null or absent */
            timezone: string;
            /** @description Short language code in its canonical spelling; `en` if null or absent; if sent, it decides what a country name means that two countries share */
            language: string;
            /** @description Status of the account: 1 for active */
            status: number;
            /**
             * @description Role of the account
             * @enum {string}
             */
            role_name: "user";
            /**
             * @description Lifecycle of the account
             * @enum {string}
             */
            lifecycle: "subscriber";
            /**
             * Format: date-time
             * @description Time at which the e-mail address was verified; null if it has not been verified
             */
            email_verified_at: string | null;
            /**
             * Format: date-time
             * @description Time of the last login; time of creation if there has been no login
             */
            login_at: string;
            /** @description Number of logins; 1 on creation */
            login_amount: number;
            /** @description IP address of the client that created the account */
            login_ip: string;
            /**
             * @description Source of the account
             * @enum {string}
             */
            source: "api";
            /** @description Whether the account was created through this API */
            api_created: boolean;
            /**
             * Format: date-time
             * @description Time at which the account was created
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time at which the account was last changed
             */
            updated_at: string;
            /**
             * Format: date-time
             * @description Time at which the personal data was erased; null if it was not
             */
            erased_at: string | null;
        };
        Webhook: {
            /** @description Id of the webhook */
            id: number;
            /** @description URL that hints are posted to */
            url: string;
            /** @description Events that hints are sent for */
            events: ("booking.changed" | "message.created" | "alarm.opened" | "alarm.resolved")[];
            /** @description True while the webhook is on and hints are sent */
            enabled: boolean;
            /**
             * Format: date-time
             * @description Time at which the webhook was turned off; null while it is on
             */
            disabled_at: string | null;
            /** @description Reason why the webhook was turned off: `gone`, `failing`, `partner`, `administrator`, `key_ended`; null while it is on */
            disabled_reason: string | null;
            /** @description Id of the key that the webhook belongs to */
            created_by: number;
        };
        WebhookCreate: {
            /**
             * Format: uri
             * @description URL that hints are posted to; must use `https` and a public address. For a program on your own machine, use `partnerctl listen`
             */
            url: string;
            /** @description Events to send hints for; at most 4 entries */
            events: ("booking.changed" | "message.created" | "alarm.opened" | "alarm.resolved")[];
        };
        WebhookDelivery: {
            /** @description Id of the delivery, sent as its `webhook-id` */
            id: string;
            /** @description Event that triggered the delivery */
            event: string;
            /** @description Id of the booking; null for a test and for an alarm */
            booking_id: number | null;
            /** @description Id of the message; null if the event is not `message.created` */
            message_id: number | null;
            /**
             * @description Status of the delivery; `delivered` without a `response_status` if a fault or a certification held back the hint
             * @enum {string}
             */
            status: "waiting" | "delivered" | "failed" | (string & {});
            /** @description Number of attempts so far */
            attempts: number;
            /** @description HTTP status of the response to the last attempt; null if there was none */
            response_status: number | null;
            /** @description Duration of the last attempt in milliseconds; null before the first attempt */
            milliseconds: number | null;
            /** @description Reason why the last attempt got no response: `timeout`, `connection` or `address`; null otherwise */
            error: string | null;
            /** @description Cause of a `connection` error: `refused`, `reset` or `dns`, for a certificate `chain_incomplete` (the receiver does not send all intermediate certificates), `untrusted`, `name_mismatch` or `expired`, and `tls` for any other fault of the handshake. `redirect` if the response was a redirect, which is not followed. Null otherwise, and if the cause is unknown */
            error_detail: string | null;
            /** @description Sandbox fault injected into the first attempt; null for none */
            fault: string | null;
            /**
             * Format: date-time
             * @description Time of the next attempt; null if there is none, and while an attempt is in progress
             */
            next_attempt_at: string | null;
        };
        WebhookPatch: {
            /**
             * Format: uri
             * @description URL that hints are posted to; must use `https` and a public address. For a program on your own machine, use `partnerctl listen`
             */
            url?: string;
            /** @description Events to send hints for; at most 4 entries */
            events?: ("booking.changed" | "message.created" | "alarm.opened" | "alarm.resolved")[];
            /** @description True to turn the webhook on, false to turn it off */
            enabled?: boolean;
        };
        WebhookTest: {
            /** @description Id of the delivery, sent as its `webhook-id` */
            id: string;
            /** @description Event that triggered the delivery */
            event: string;
            /** @description Id of the booking; null for a test and for an alarm */
            booking_id: number | null;
            /** @description Id of the message; null if the event is not `message.created` */
            message_id: number | null;
            /**
             * @description Status of the delivery; `delivered` without a `response_status` if a fault or a certification held back the hint
             * @enum {string}
             */
            status: "waiting" | "delivered" | "failed" | (string & {});
            /** @description Number of attempts so far */
            attempts: number;
            /** @description HTTP status of the response to the last attempt; null if there was none */
            response_status: number | null;
            /** @description Duration of the last attempt in milliseconds; null before the first attempt */
            milliseconds: number | null;
            /** @description Reason why the last attempt got no response: `timeout`, `connection` or `address`; null otherwise */
            error: string | null;
            /** @description Cause of a `connection` error: `refused`, `reset` or `dns`, for a certificate `chain_incomplete` (the receiver does not send all intermediate certificates), `untrusted`, `name_mismatch` or `expired`, and `tls` for any other fault of the handshake. `redirect` if the response was a redirect, which is not followed. Null otherwise, and if the cause is unknown */
            error_detail: string | null;
            /** @description Sandbox fault injected into the first attempt; null for none */
            fault: string | null;
            /**
             * Format: date-time
             * @description Time of the next attempt; null if there is none, and while an attempt is in progress
             */
            next_attempt_at: string | null;
            /** @description Origin of the address that the response redirected to; null if it did not. It is shown only here, and not stored */
            redirect_origin: string | null;
        };
        WebhookWithSecret: {
            /** @description Id of the webhook */
            id: number;
            /** @description URL that hints are posted to */
            url: string;
            /** @description Events that hints are sent for */
            events: ("booking.changed" | "message.created" | "alarm.opened" | "alarm.resolved")[];
            /** @description True while the webhook is on and hints are sent */
            enabled: boolean;
            /**
             * Format: date-time
             * @description Time at which the webhook was turned off; null while it is on
             */
            disabled_at: string | null;
            /** @description Reason why the webhook was turned off: `gone`, `failing`, `partner`, `administrator`, `key_ended`; null while it is on */
            disabled_reason: string | null;
            /** @description Id of the key that the webhook belongs to */
            created_by: number;
            /** @description Secret that hints are signed with; shown only in this response */
            secret: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getHostProfile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["HostProfile"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    getKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Key"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    listRequests: {
        parameters: {
            query?: {
                /** @description Number of items per page (default 50, maximum 100) */
                per_page?: number;
                /** @description `next_cursor` of the previous page; valid only for the same key. It keeps `per_page` and the filters, which may be omitted but must not differ from those of the cursor */
                cursor?: string;
                /** @description Statuses to include: `2xx` to `5xx`, a number, or `unanswered` for requests that a sandbox fault left without a response; repeated, or separated by commas; at most 20 entries */
                status?: string[];
                /** @description `X-Request-Id` of the request to include */
                request_id?: string;
                /** @description Earliest arrival time of the requests to include: ISO 8601, or `YYYY-MM-DD HH:MM:SS` in UTC */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Requests on this page, newest first */
                        data: components["schemas"]["Request"][];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                            pagination: components["schemas"]["CursorPagination"];
                        };
                    };
                };
            };
        };
    };
    countRequests: {
        parameters: {
            query?: {
                /** @description First minute to include: ISO 8601, or `YYYY-MM-DD HH:MM:SS` in UTC */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Request counts of the last 24 hours by minute, oldest first */
                        data: components["schemas"]["RequestCount"][];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description Number of the page to return, starting at 1 (default 1) */
                page?: number;
                /** @description Number of items per page (default 50, maximum 100) */
                per_page?: number;
                /** @description Only the user with this e-mail address, case-insensitive */
                email?: string;
                /** @description Only users who were erased after this time, ordered by it: a timestamp as responses show it, such as the last `erased_at` that you have read. A user is among them from the first step of the erasure on, in the erased form */
                erased_after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Users on this page, by id; with `erased_after`, by `erased_at` and then id */
                        data: components["schemas"]["UserInFull"][];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                            pagination: components["schemas"]["Pagination"];
                        };
                    };
                };
            };
        };
    };
    createUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description Key that makes retries safe: a repeated request with the same key and body gets the first response again. It may be quoted; a comma followed by a space is not allowed */
                "Idempotency-Key"?: string;
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserCreate"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["User"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of one of the users; the example exists in the sandbox */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["UserInFull"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    listListings: {
        parameters: {
            query?: {
                /** @description Number of the page to return, starting at 1 (default 1) */
                page?: number;
                /** @description Number of items per page (default 50, maximum 100) */
                per_page?: number;
                /** @description Field to sort by; if absent, listings are sorted by status, name and latest update */
                sort?: "id" | "name" | "updated_at" | "listing_status";
                /** @description Direction of `sort`; if absent, `desc` for `updated_at` and `asc` for other fields */
                order?: "asc" | "desc";
                /** @description Statuses to include; repeated, or separated by commas; at most 100 entries */
                listing_status?: ("draft" | "pending" | "published" | "inactive")[];
                /** @description Text that the name of the listing must contain, case-insensitive */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The listings of this page */
                        data: components["schemas"]["ListingSummary"][];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                            pagination: components["schemas"]["Pagination"];
                        };
                    };
                };
            };
        };
    };
    createListing: {
        parameters: {
            query?: never;
            header?: {
                /** @description Key that makes retries safe: a repeated request with the same key and body gets the first response again. It may be quoted; a comma followed by a space is not allowed */
                "Idempotency-Key"?: string;
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ListingCreate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListingWriteResult"];
                };
            };
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListingWriteResult"];
                };
            };
        };
    };
    getListing: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of one of the listings; the example exists in the sandbox */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Listing"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    updateListing: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Id of one of the listings; the example exists in the sandbox */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ListingPatch"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListingWriteResult"];
                };
            };
        };
    };
    createBooking: {
        parameters: {
            query?: never;
            header?: {
                /** @description Key that makes retries safe: a repeated request with the same key and body gets the first response again. It may be quoted; a comma followed by a space is not allowed */
                "Idempotency-Key"?: string;
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BookingCreate"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Booking"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    confirmBooking: {
        parameters: {
            query?: never;
            header?: {
                /** @description Key that makes retries safe: a repeated request with the same key and body gets the first response again. It may be quoted; a comma followed by a space is not allowed */
                "Idempotency-Key"?: string;
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Id of one of the bookings; the example exists in the sandbox */
                booking_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BookingConfirm"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The booking */
                        data: {
                            Booking: components["schemas"]["BookingDetail"];
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    cancelBooking: {
        parameters: {
            query?: never;
            header?: {
                /** @description Key that makes retries safe: a repeated request with the same key and body gets the first response again. It may be quoted; a comma followed by a space is not allowed */
                "Idempotency-Key"?: string;
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Id of one of the bookings; the example exists in the sandbox */
                booking_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BookingCancel"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The booking */
                        data: {
                            Booking: components["schemas"]["BookingDetail"];
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    getBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
                /** @description Id of one of the bookings; the example exists in the sandbox */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The booking */
                        data: {
                            Booking: components["schemas"]["BookingDetail"];
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    listMessages: {
        parameters: {
            query?: {
                /** @description Number of the page to return, starting at 1 (default 1) */
                page?: number;
                /** @description Number of items per page (default 50, maximum 100) */
                per_page?: number;
            };
            header?: never;
            path: {
                /** @description Id of one of the bookings; the example exists in the sandbox */
                booking_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The messages */
                        data: {
                            /** @description Messages on this page, oldest first */
                            messages: components["schemas"]["Message"][];
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                            pagination: components["schemas"]["Pagination"];
                        };
                    };
                };
            };
        };
    };
    sendMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Id of one of the bookings; the example exists in the sandbox */
                booking_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageCreate"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Message as stored; of a duplicate, the first message */
                        data: {
                            message: components["schemas"]["Message"];
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                            /**
                             * @description True if the conversation already ended with this message, so that nothing was stored; otherwise absent
                             * @constant
                             */
                            duplicate?: true;
                        };
                    };
                };
            };
        };
    };
    storeProviderKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProviderKeyWrite"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ProviderKeyResult"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    getAvailability: {
        parameters: {
            query?: {
                /** @description Number of the page to return, starting at 1 (default 1) */
                page?: number;
                /** @description Number of items per page (default 100, maximum 500) */
                per_page?: number;
                /** @description Only this listing */
                listing_id?: string;
                /** @description Only this room type */
                room_type_id?: string;
                /** @description First day of the window; only ranges that end on or after it are returned */
                start_date?: string;
                /** @description Last day of the window; only ranges that start on or before it are returned */
                end_date?: string;
            };
            header?: never;
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Availability */
                        data: {
                            /** @description Ranges ordered by first day, keyed by listing id, then by room type id */
                            availabilities: {
                                [key: string]: {
                                    [key: string]: components["schemas"]["AvailabilityRow"][];
                                };
                            };
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                            pagination: components["schemas"]["AvailabilityPagination"];
                        };
                    };
                };
            };
        };
    };
    updateAvailability: {
        parameters: {
            query?: never;
            header?: {
                /** @description Key that makes retries safe: a repeated request with the same key and body gets the first response again. It may be quoted; a comma followed by a space is not allowed */
                "Idempotency-Key"?: string;
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AvailabilityWrite"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Confirmation"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                            /** @description Version of the host's newest booking when the write was applied; null without bookings. If it is later than the feed that the counts were computed from, a booking has come in between */
                            newest_version: string | null;
                        };
                    };
                };
            };
        };
    };
    getNights: {
        parameters: {
            query: {
                /** @description Id of the listing */
                listing_id: string;
                /** @description Id of a room type of the listing; all of its room types if absent */
                room_type_id?: string;
                /** @description First night */
                start_date: string;
                /** @description Last night, inclusive; at most 366 nights, and at most 20,000 summed over all room types */
                end_date: string;
            };
            header?: never;
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Units left */
                        data: {
                            /** @description Nights in order, keyed by listing id, then by room type id */
                            nights: {
                                [key: string]: {
                                    [key: string]: components["schemas"]["Night"][];
                                };
                            };
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    updateRates: {
        parameters: {
            query?: never;
            header?: {
                /** @description Key that makes retries safe: a repeated request with the same key and body gets the first response again. It may be quoted; a comma followed by a space is not allowed */
                "Idempotency-Key"?: string;
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RatesWrite"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Confirmation"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                            /** @description Id of the job that applies the rates */
                            job_id: number;
                        };
                    };
                };
            };
        };
    };
    getRateJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
                /** @description Id of one of the jobs; the example exists in the sandbox */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RateJob"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    listCalendars: {
        parameters: {
            query?: {
                /** @description Number of the page to return, starting at 1 (default 1) */
                page?: number;
                /** @description Number of items per page (default 100, maximum 500) */
                per_page?: number;
                /** @description Only the rooms of this listing */
                listing_id?: string;
                /** @description Statuses to include; repeated, or separated by commas; at most 100 entries */
                status?: ("waiting" | "ok" | "holding" | "failing")[];
            };
            header?: never;
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The calendars */
                        data: {
                            /** @description Calendars of this page, one for each room with an address, by listing, room type and room id */
                            calendars: components["schemas"]["CalendarEntry"][];
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                            pagination: components["schemas"]["Pagination"];
                        };
                    };
                };
            };
        };
    };
    getCalendar: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
                /** @description Id of one of the calendars; the example exists in the sandbox */
                room_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The calendar */
                        data: {
                            calendar: components["schemas"]["Calendar"];
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    readCalendar: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
                /** @description Id of one of the calendars; the example exists in the sandbox */
                room_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CalendarRead"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The calendar */
                        data: {
                            calendar: components["schemas"]["Calendar"];
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    checkCalendar: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CalendarCheck"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CheckedCalendar"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    pollBookings: {
        parameters: {
            query?: {
                /** @description Number of the page to return, starting at 1 (default 1) */
                page?: number;
                /** @description Number of items per page (default 50, maximum 100) */
                per_page?: number;
                /** @description Last `version` you have handled, as `YYYY-MM-DD HH:MM:SS`; only later changes are returned. A date alone means the first second of that day */
                updated_after?: string;
                /** @description Name of a consumer; only changes after its acknowledged version are returned. Cannot be combined with `updated_after` */
                consumer?: string;
                /** @description `next_cursor` of the previous page; a cursor costs the same at any depth. It keeps `per_page`, `updated_after` and the filters, which may be omitted but must not differ from those of the cursor. Cannot be combined with `page` */
                cursor?: string;
                /** @description Maximum number of seconds to wait for the first item if the page would be empty (default 0); has no effect with `page` above 1 */
                wait?: number;
                /** @description Only stays that end on or after this day */
                checkout_after?: string;
                /** @description Only bookings of this listing */
                listing_id?: string;
                /** @description `detail` adds the whole booking to each item, as the detail route returns it */
                include?: "detail";
            };
            header?: {
                /** @description `peek` looks at the feed without counting as a read by the key, so that an alert about unread changes still sees them */
                Prefer?: string;
                /** @description `ETag` of a page that the client already has; the response is a 304 without a body if the page is unchanged */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Changes on this page */
                        data: {
                            /** @description New and changed bookings, sorted by version */
                            Bookings: components["schemas"]["BookingChange"][];
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                            pagination: components["schemas"]["FeedPagination"];
                            /**
                             * @description True if the position sent is more than five minutes ahead of both the feed and the clock, so that the page cannot show anything: it comes from another service, or from before a restore. Otherwise absent
                             * @constant
                             */
                            ahead?: true;
                            /** @description Version of the newest row in the feed, null if there is none; present only with `ahead` */
                            newest_version?: string | null;
                        };
                    };
                };
            };
        };
    };
    pollMessages: {
        parameters: {
            query?: {
                /** @description Number of the page to return, starting at 1 (default 1) */
                page?: number;
                /** @description Number of items per page (default 50, maximum 100) */
                per_page?: number;
                /** @description Last `version` you have handled, as `YYYY-MM-DD HH:MM:SS`; only later changes are returned. A date alone means the first second of that day */
                updated_after?: string;
                /** @description Name of a consumer; only changes after its acknowledged version are returned. Cannot be combined with `updated_after` */
                consumer?: string;
                /** @description `next_cursor` of the previous page; a cursor costs the same at any depth. It keeps `per_page`, `updated_after` and the filters, which may be omitted but must not differ from those of the cursor. Cannot be combined with `page` */
                cursor?: string;
                /** @description Maximum number of seconds to wait for the first item if the page would be empty (default 0); has no effect with `page` above 1 */
                wait?: number;
                /** @description Only messages of this booking */
                booking_id?: string;
                /** @description Only messages from this sender */
                sender?: "guest" | "host";
            };
            header?: {
                /** @description `peek` looks at the feed without counting as a read by the key, so that an alert about unread changes still sees them */
                Prefer?: string;
                /** @description `ETag` of a page that the client already has; the response is a 304 without a body if the page is unchanged */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Messages on this page */
                        data: {
                            /** @description New messages from all conversations, sorted by version */
                            messages: components["schemas"]["NewMessage"][];
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                            pagination: components["schemas"]["FeedPagination"];
                            /**
                             * @description True if the position sent is more than five minutes ahead of both the feed and the clock, so that the page cannot show anything: it comes from another service, or from before a restore. Otherwise absent
                             * @constant
                             */
                            ahead?: true;
                            /** @description Version of the newest row in the feed, null if there is none; present only with `ahead` */
                            newest_version?: string | null;
                        };
                    };
                };
            };
        };
    };
    digestBookings: {
        parameters: {
            query?: {
                /** @description Only bookings of this listing */
                listing_id?: string;
                /** @description Only stays that begin in this month; `parts` then has one entry per day */
                month?: string;
                /** @description Only stays that begin on this day; `bookings` then lists each of them */
                day?: string;
                /** @description Only bookings with a greater id: the `next_after` of the previous page; for use with `day` */
                after?: string;
            };
            header?: {
                /** @description `ETag` of a page that the client already has; the response is a 304 without a body if the page is unchanged */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The digest */
                        data: {
                            digest: components["schemas"]["BookingDigest"];
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    listBookingConsumers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Consumers, sorted by name */
                        data: components["schemas"]["Consumer"][];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    getBookingConsumer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
                /** @description Name of one of the consumers */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Consumer"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    putBookingConsumer: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
                /** @description Name of one of the consumers */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsumerWrite"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Consumer"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    deleteBookingConsumer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
                /** @description Name of one of the consumers */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Confirmation"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    listMessageConsumers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Consumers, sorted by name */
                        data: components["schemas"]["Consumer"][];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    getMessageConsumer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
                /** @description Name of one of the consumers */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Consumer"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    putMessageConsumer: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
                /** @description Name of one of the consumers */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsumerWrite"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Consumer"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    deleteMessageConsumer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Integration provider; currently only `provider_one` */
                provider: "provider_one";
                /** @description Name of one of the consumers */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Confirmation"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Health"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Webhooks of the host, sorted by id */
                        data: components["schemas"]["Webhook"][];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookCreate"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookWithSecret"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of one of the webhooks, as returned by `GET` */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Webhook"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of one of the webhooks, as returned by `GET` */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Confirmation"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Id of one of the webhooks, as returned by `GET` */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookPatch"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Webhook"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                            /** @description Versions after which hints may be missing; read the feeds from there */
                            gap?: {
                                /** @description Version of the booking feed after which hints may be missing */
                                bookings_after: string;
                                /** @description Version of the message feed after which hints may be missing */
                                messages_after: string;
                            };
                        };
                    };
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of one of the webhooks, as returned by `GET` */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookWithSecret"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of one of the webhooks, as returned by `GET` */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookTest"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of one of the webhooks, as returned by `GET` */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Last 100 deliveries, newest first */
                        data: components["schemas"]["WebhookDelivery"][];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    resendWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of one of the webhooks, as returned by `GET` */
                id: number;
                /** @description Id of one of the deliveries, as returned by `GET` */
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    clearSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Confirmation"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    replyAsSandboxGuest: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Id of one of the bookings; the example exists in the sandbox */
                booking_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageCreate"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Message as stored; of a duplicate, the first message */
                        data: {
                            message: components["schemas"]["Message"];
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                            /**
                             * @description True if the conversation already ended with this message, so that nothing was stored; otherwise absent
                             * @constant
                             */
                            duplicate?: true;
                        };
                    };
                };
            };
        };
    };
    listSandboxScenarios: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Available scenarios */
                        data: components["schemas"]["SandboxScenario"][];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    playSandboxScenario: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Name of one of the scenarios */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SandboxScenarioParameters"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Outcome of the scenario */
                        data: {
                            played: components["schemas"]["SandboxScenarioPlayed"];
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    getSandboxClock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SandboxClock"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    advanceSandboxClock: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Number of whole seconds to move the clock forward; at most 400 days in total */
                    advance_seconds: number;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SandboxClock"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    listSandboxCertifications: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Certifications of the key, newest first */
                        data: components["schemas"]["Certification"][];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    startSandboxCertification: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CertificationStart"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Certification"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    getSandboxCertification: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of one of the certifications, as returned by `GET` */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Certification"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    endSandboxCertification: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of one of the certifications, as returned by `GET` */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Confirmation"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    uploadSandboxCertificationState: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path: {
                /** @description Id of one of the certifications, as returned by `GET` */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CertificationState"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Certification"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    getSandboxCertificationReport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of one of the certifications, as returned by `GET` */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The report */
                        data: {
                            /** @description Report as a compact JWS signed with Ed25519, valid for one year */
                            report: string;
                        };
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    listSandboxFaults: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SandboxFaults"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    setSandboxFaults: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SandboxFaultsWrite"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SandboxFaults"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
    clearSandboxFaults: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SandboxFaults"];
                        /** @description Metadata of the response */
                        meta: {
                            /** @description Id of the request, to quote when contacting support */
                            request_id?: string;
                            /**
                             * @description True in the sandbox; absent on live data
                             * @constant
                             */
                            sandbox?: true;
                            /** @description Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none */
                            ignored?: string[];
                        };
                    };
                };
            };
        };
    };
}
