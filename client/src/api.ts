// Generated from the OpenAPI document: `bin/bun run client:types`.
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
         * @description Any key may call it.
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
         * Read the key itself: permissions, expiry, limit and use
         * @description Any key may call it.
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
         * @description Any key may call it.
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
         * Count the requests that the rate limit of this key counts
         * @description Any key may call it.
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
        get?: never;
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
         * @description Permission: `bookings.write`. Safe to retry with `Idempotency-Key`.
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
         * @description Permission: `bookings.write`. Safe to retry with `Idempotency-Key`.
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
         * Read one booking in full
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
         * Read the messages of a booking
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
         * Read how many units are left on each night
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
         * Read what became of a rates write
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
    "/v1/integrations/{provider}/bookings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Poll new and changed bookings
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
         * Poll new messages
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
         * Compare your bookings with those of the host
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
         * List the consumers of the bookings feed
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
         * Read a consumer, and how far it is behind
         * @description Permission: `bookings.read`.
         */
        get: operations["getBookingConsumer"];
        /**
         * Create a consumer, or acknowledge what it handled
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
         * List the consumers of the messages feed
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
         * Read a consumer, and how far it is behind
         * @description Permission: `bookings.read`.
         */
        get: operations["getMessageConsumer"];
        /**
         * Create a consumer, or acknowledge what it handled
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
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the webhooks
         * @description Permission: `bookings.read`.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description Hints are posted to it from now on. The `secret` that signs them is shown only in this answer. A host has at most five.
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
         * Change a webhook, or turn it off and on
         * @description Turned off, it drops the hints that wait. Turned on again, it begins with what comes next, and `meta.gap` names the versions after which hints may be missing: read the feeds from there. A new `url` of the same origin takes the waiting hints along; one of another origin does not, and `meta.gap` says from where on. Turning on an endpoint whose key has ended gives it to your key.
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
         * Give a webhook a new secret
         * @description The new secret is shown only in this answer. For 24 hours hints are signed with the one before, too; at most two sign.
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
         * Send a test to a webhook, and see what it responds
         * @description Posts a `webhook.test` at once, also to a webhook that is off, and waits for the response, up to 15 s. It is never tried again.
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
         * List what was sent to a webhook
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
         * Send a delivery again
         * @description Makes it due now, under the same `webhook-id`, and answers at once; the list of deliveries shows what became of it.
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
         * @description Any key may call it. Works on the mock data of the calling key; nothing here touches live data.
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
         * Let the guest of a sandbox booking reply (sandbox)
         * @description Permission: `bookings.write`. Works on the mock data of the calling key; nothing here touches live data.
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
         * List the scenarios that the sandbox can play (sandbox)
         * @description Any key may call it. Works on the mock data of the calling key; nothing here touches live data.
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
         * @description - `guest-books`: New guests book, each with a message. Finds an integration that knows only the bookings that it made itself.
         *     - `host-confirms`: The host confirms a pending booking. Finds an integration that reads each booking once.
         *     - `guest-cancels`: A guest cancels, with a reason. Finds an integration that keeps the nights of a cancelled booking blocked.
         *     - `cancelled-before-seen`: A guest books and cancels before anybody could look. Finds an integration that cannot take the cancellation of a booking that it never saw.
         *     - `changed-within-a-second`: A booking is made, confirmed and cancelled at once. Finds an integration that waits for a state in between, and leaves the version ahead of the clock for one that goes on by its own.
         *     - `last-unit`: Of the nights that it names one unit is left, and a guest takes it. Finds an integration that books by what it remembers, or repeats a booking that was refused.
         *     - `guest-writes`: A guest writes messages. Finds an integration that misses those between two polls, or stores one twice.
         *     - `conversation-closes`: A conversation is closed: the next message to it is refused. Finds an integration that repeats for ever what cannot be delivered.
         *     - `history`: Stays that are over, as many of each status. Finds an integration whose first sync reads one page, or drops what is past.
         *
         *     Any key may call it. Works on the mock data of the calling key; nothing here touches live data.
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
         * @description Any key may call it. Works on the mock data of the calling key; nothing here touches live data.
         */
        get: operations["getSandboxClock"];
        put?: never;
        /**
         * Move the clock of the sandbox forward (sandbox)
         * @description Any key may call it. Works on the mock data of the calling key; nothing here touches live data.
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
         * @description Any key may call it. Works on the mock data of the calling key; nothing here touches live data.
         */
        get: operations["listSandboxCertifications"];
        put?: never;
        /**
         * Start a certification (sandbox)
         * @description Clears the sandbox of this key, fills it with 130 bookings, and plays a course of changes and faults. Point your product at the sandbox, and follow `next`.
         *
         *     Any key may call it. Works on the mock data of the calling key; nothing here touches live data.
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
         * Read how a certification stands (sandbox)
         * @description Any key may call it. Works on the mock data of the calling key; nothing here touches live data.
         */
        get: operations["getSandboxCertification"];
        put?: never;
        post?: never;
        /**
         * End a certification (sandbox)
         * @description Any key may call it. Works on the mock data of the calling key; nothing here touches live data.
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
         * Upload what the product holds (sandbox)
         * @description Once, when `next` asks for it: as JSON, or one booking in a line (ndjson).
         *
         *     Any key may call it. Works on the mock data of the calling key; nothing here touches live data.
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
         * Read the signed report (sandbox)
         * @description Any key may call it. Works on the mock data of the calling key; nothing here touches live data.
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
         * List the faults that the sandbox plays (sandbox)
         * @description Any key may call it. Works on the mock data of the calling key; nothing here touches live data.
         */
        get: operations["listSandboxFaults"];
        /**
         * Have the sandbox play faults, in place of others (sandbox)
         * @description Any key may call it. Works on the mock data of the calling key; nothing here touches live data.
         */
        put: operations["setSandboxFaults"];
        post?: never;
        /**
         * End the faults of the sandbox (sandbox)
         * @description Any key may call it. Works on the mock data of the calling key; nothing here touches live data.
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
            listing_id: number;
            /** @description Id of a room type of that listing */
            room_type_id: number;
            /** @description Units left on each day of the range; 0 closes it */
            available: number;
            /**
             * Format: date
             * @description First day of the range
             */
            start_date: string;
            /**
             * Format: date
             * @description Last day of the range, included
             */
            end_date: string;
        };
        AvailabilityPagination: {
            /** @description The page requested */
            current_page: number;
            /** @description Items per page */
            per_page: number;
            /** @description Items that match, over all pages */
            total: number;
            /** @description The last page; read on while it is greater than `current_page` */
            last_page: number;
        };
        AvailabilityRow: {
            /** @description Id of the range */
            id: number;
            /** @description Id of the listing */
            listing_id: number;
            /** @description Id of the room type */
            room_type_id: number;
            /** @description Units left on each day of the range when it was written */
            available: number;
            /**
             * Format: date
             * @description First day of the range
             */
            start_date: string;
            /**
             * Format: date
             * @description Last day of the range, included
             */
            end_date: string;
            /**
             * Format: date-time
             * @description When the range was written
             */
            updated_at: string;
        };
        AvailabilityWrite: {
            /** @description Items, written all or nothing; later ones win; at most 1000 */
            data: components["schemas"]["AvailabilityItem"][];
        };
        Booking: {
            /** @description Id of the booking */
            booking_id: number;
            /** @description Number of the booking: `BK-` and its id */
            booking_no: string;
            /** @description Id of the guest */
            user_id: number;
            /** @description Id of the host account */
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
            /** @description Number of guests, always 1 */
            guests: number;
            /** @description Number of units, always 1 */
            rooms: number;
            /** @description Status as a number: 1 pending, 2 confirmed, 3 cancelled */
            status: number;
            /**
             * @description Kind of booking
             * @enum {string}
             */
            type: "api_booking";
            /** @description ISO currency code of all amounts, in upper case */
            currency: string;
            /** @description Price of all nights in major units, before discount and fees */
            price: number;
            /** @description The same as `price` */
            price_local: number;
            /** @description Price minus discount plus mandatory one-off fees, in major units */
            price_total: number;
            /** @description The same as `price_total` */
            price_total_local: number;
            /** @description Security deposit of the listing in major units, not part of the total */
            security_deposit: number;
            /** @description The same as `security_deposit` */
            security_deposit_local: number;
            /** @description Discount for the length of the stay, in major units */
            discount: number;
            /** @description Transaction fee, always 0 */
            transaction_fee: number;
            /** @description Service fee, always 0 */
            service_fee: number;
            /** @description Total service fee, always 0 */
            service_fee_total: number;
            /**
             * @description Whether the booking recurs, always 0
             * @enum {integer}
             */
            is_recurring: 0 | 1;
            /**
             * @description Whether the platform manages the booking, always 0
             * @enum {integer}
             */
            managed: 0 | 1;
            /**
             * @description Whether the payout is ready, always 0
             * @enum {integer}
             */
            payout_ready: 0 | 1;
            /** @description Next recurrence; null, because this service does not keep it */
            recurring_at: string | null;
            /** @description Lifecycle on the platform; null, because this service does not keep it */
            lifecycle: string | null;
            /** @description Status of the payment; null, because this service does not keep it */
            payment_status: string | null;
            /** @description Status as a lead; null, because this service does not keep it */
            lead_status: string | null;
            /**
             * @description Where the booking comes from
             * @enum {string}
             */
            source: "api";
            /** @description Whether it was created through this interface */
            api_created: boolean;
            /** @description What the guest asked for when booking; null for nothing */
            special_requests: string | null;
            /** @description Why it was cancelled; null if not cancelled or no reason was given */
            cancellation_reason: string | null;
            /** @description Reason of a dispute; null, because this service does not keep it */
            dispute_reason: string | null;
            /** @description When the guest paid; null, because this service does not keep it */
            paid_at: string | null;
            /** @description When the host was paid; null, because this service does not keep it */
            paid_to_host_at: string | null;
            /** @description When it was invoiced; null, because this service does not keep it */
            invoiced_at: string | null;
            /**
             * Format: date-time
             * @description When it was cancelled; null if it is not
             */
            canceled_at: string | null;
            /** @description When the guest missed it; null, because this service does not keep it */
            missed_at: string | null;
            /**
             * Format: date-time
             * @description When it was confirmed; null if it has not been
             */
            confirmed_at: string | null;
            /** @description When it was extended; null, because this service does not keep it */
            extended_at: string | null;
            /** @description How the booking came about */
            meta: {
                /**
                 * @description Where the booking comes from
                 * @enum {string}
                 */
                source: "api";
                /** @description Whether it was created through this interface */
                api_created: boolean;
                /** @description What the guest asked for when booking; null for nothing */
                special_requests: string | null;
            };
            /**
             * Format: date-time
             * @description When the booking was created
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The version as a timestamp; after a burst of changes it may be ahead of the clock
             */
            updated_at: string;
        };
        BookingCancel: {
            /** @description Why the booking is cancelled, trimmed; null for no reason */
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
            /** @description Version of this change, in UTC; pass the last one as `updated_after` */
            version: string;
        };
        BookingConfirm: Record<string, never>;
        BookingCreate: {
            /** @description Id of a user that this host has created */
            user_id: number;
            /** @description Id of a listing of this host that is not inactive */
            listing_id: number;
            /** @description Id of a room type of the listing; null or absent only if the listing has exactly one */
            room_type_id?: number | null;
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
            /** @description Message of the guest, trimmed; it becomes `special_requests` and the first message. Null for none */
            message?: string | null;
        };
        BookingDetail: {
            /** @description Id of the booking */
            booking_id: number;
            /** @description Reference for people: `BK-` and the id */
            booking_reference: string;
            /** @description Id of the listing */
            listing_id: number;
            /** @description Id of the room type */
            room_type_id: number;
            /** @description Current name of the room type; null if it has none */
            room_type_name: string | null;
            /** @description Id of the room; null, because bookings are for a room type */
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
                /** @description Telephone number of the guest as it was sent; null if unknown */
                phone: string | null;
                /** @description Two-letter country code of the guest; null if it cannot be determined */
                country: string | null;
            };
            /** @description Price */
            pricing: {
                /** @description ISO currency code of all amounts, in upper case */
                currency: string;
                /** @description Total price in major units */
                total: number;
                /** @description The same as `total`; null if it cannot be converted */
                total_local: number | null;
                /** @description Security deposit in major units, not part of the total */
                security_deposit: number;
            };
            /** @description Why it was cancelled; null if not cancelled or no reason was given */
            cancellation_reason: string | null;
            /** @description What the guest asked for when booking; null for nothing */
            notes: string | null;
            /**
             * Format: date-time
             * @description When what it held of its guest was erased; null for all others
             */
            erased_at: string | null;
            /** @description When it was created and changed */
            meta: {
                /** @description Version of this change, in UTC; pass the last one as `updated_after` */
                version: string;
                /**
                 * Format: date-time
                 * @description When the booking was created
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description The version as a timestamp; after a burst of changes it may be ahead of the clock
                 */
                updated_at: string;
            };
        };
        BookingDigest: {
            /** @description The newest version of all bookings of the host, whatever the query asks for; null without bookings */
            version: string | null;
            /** @description How many bookings */
            count: number;
            /** @description SHA-256 in lower-case hex of a line for each booking, ascending by id: `booking_id status checkin_at checkout_at` and a line feed */
            sha256: string;
            /** @description The months with bookings, or the days of the month that was asked for; absent with `day` */
            parts?: components["schemas"]["BookingDigestPart"][];
            /** @description With `day`: its bookings by id, at most 10,000 */
            bookings?: components["schemas"]["DigestedBooking"][];
            /** @description With `day`: go on `after` this id; null at the end */
            next_after?: number | null;
        };
        BookingDigestPart: {
            /** @description The month of `checkin_at`, or its day */
            key: string;
            /** @description How many bookings */
            count: number;
            /** @description SHA-256 in lower-case hex of a line for each booking, ascending by id: `booking_id status checkin_at checkout_at` and a line feed */
            sha256: string;
        };
        Certification: {
            /** @description Id of the certification */
            id: number;
            /**
             * @description Whether it was passed
             * @enum {string}
             */
            status: "running" | "passed" | "failed" | "expired" | (string & {});
            /** @description What the product is certified for */
            profiles: ("feed" | "inventory" | "bookings" | "webhooks")[];
            /** @description Decides what is played */
            seed: string;
            /**
             * Format: date-time
             * @description When it was started
             */
            started_at: string;
            /**
             * Format: date-time
             * @description When it ended; null while it runs
             */
            ended_at: string | null;
            /** @description What is to be done now; null when it has ended */
            next: components["schemas"]["CertificationNext"] | null;
            /** @description What the product is graded by */
            cases: components["schemas"]["CertificationCase"][];
        };
        CertificationCase: {
            /** @description The case */
            name: string;
            /**
             * @description What the product does
             * @enum {string}
             */
            profile: "feed" | "inventory" | "bookings" | "webhooks" | (string & {});
            /** @description What a product does to pass it */
            rule: string;
            /**
             * @description How it stands
             * @enum {string}
             */
            status: "waiting" | "passed" | "failed" | "skipped" | (string & {});
            /** @description Why it failed or was skipped */
            because: string | null;
            /** @description Requests that tell */
            request_ids: string[];
            /** @description Where the guide tells of it */
            guide: string;
        };
        CertificationNext: {
            /**
             * @description What is to be done
             * @enum {string}
             */
            action: "start" | "stop" | "wait" | "push_all" | "push_change" | "book" | "cancel" | "upload_state" | (string & {});
            /** @description The same in words */
            text: string;
            /** @description Of `cancel`: the booking */
            booking_id: number | null;
            /** @description Of `book`: a user who can be the guest */
            user_id: number | null;
            /** @description Of `push_change` and `book`: the listing */
            listing_id: number | null;
            /** @description Of `push_change` and `book`: the room type */
            room_type_id: number | null;
            /** @description Of `push_all`: the room types */
            room_types: {
                /** @description Id of the listing */
                listing_id: number;
                /** @description Id of the room type */
                room_type_id: number;
            }[] | null;
            /**
             * Format: date
             * @description Of `book`: the first night
             */
            checkin_at: string | null;
            /**
             * Format: date
             * @description Of `book`: the day of departure
             */
            checkout_at: string | null;
            /**
             * Format: date
             * @description Of `push_all` and `push_change`: the first night
             */
            start_date: string | null;
            /**
             * Format: date
             * @description Of `push_all` and `push_change`: the last night, included
             */
            end_date: string | null;
            /** @description Of `push_change`: the units */
            available: number | null;
        };
        CertificationStart: {
            /** @description What the product is certified for; played in the order feed, inventory, bookings, webhooks; at most 4 */
            profiles: ("feed" | "inventory" | "bookings" | "webhooks")[];
            /** @description Decides what is played: the same course for the same seed; null for any */
            seed?: string | null;
        };
        CertificationState: {
            /** @description What the product holds; at most 10000 */
            bookings: {
                /** @description Id of the booking */
                booking_id: number;
                /**
                 * @description Its status
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
        Confirmation: {
            /** @description What was done, in words */
            message: string;
        };
        Consumer: {
            /** @description Name of the consumer */
            name: string;
            /** @description Version of the last change that was acknowledged; null for none */
            acknowledged: string | null;
            /**
             * Format: date-time
             * @description When it was acknowledged; null for never
             */
            acknowledged_at: string | null;
            /** @description Changes after it, over the whole feed; 10000 for that many or more */
            pending: number;
            /**
             * Format: date-time
             * @description Version of the oldest of them as a timestamp; null for none
             */
            oldest_pending_at: string | null;
        };
        ConsumerWrite: {
            /** @description Version of the last change that was handled; null for the beginning */
            acknowledged: string | null;
            /** @description True to go back: otherwise a lower version changes nothing */
            seek?: boolean;
        };
        CursorPagination: {
            /** @description Items per page */
            per_page: number;
            /** @description Cursor of the next page; null on the last page */
            next_cursor: string | null;
        };
        DigestedBooking: {
            /** @description Id of the booking */
            booking_id: number;
            /** @description Version of this change, in UTC; pass the last one as `updated_after` */
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
        /** @description What went wrong */
        Error: {
            /** @description The error */
            error: {
                /** @description Kind of error, for programs */
                type: string;
                /** @description What went wrong, for people */
                message: string;
                /** @description Id of the request, for questions to support */
                request_id?: string;
                /** @description One entry for each field that is wrong; may be empty */
                errors: components["schemas"]["Problem"][];
            };
        };
        ExtraFee: {
            /** @description Name of the fee; null if not set */
            name: string | null;
            /** @description What the fee is for; null if not set */
            description: string | null;
            /** @description Whether every guest pays it: 1 yes, 0 no; null if not set */
            mandatory: number | null;
            /** @description `percentage` or `percent` of the price of the stay; otherwise a fixed amount, any word; null if not set */
            type: string | null;
            /** @description The amount in major units, or the percentage; null if not set */
            sum: number | null;
            /** @description How often it is due; `once`, `one_time` or `one_off` is charged with a booking. May be, any word; null if not set */
            frequency: string | null;
        };
        ExtraFeeWrite: {
            /** @description Name of the fee; null if not set */
            name?: string | null;
            /** @description What the fee is for; null if not set */
            description?: string | null;
            /** @description Whether every guest pays it: 1 yes, 0 no; null if not set */
            mandatory?: number | null;
            /** @description `percentage` or `percent` of the price of the stay; otherwise a fixed amount, any word; null if not set */
            type?: string | null;
            /** @description The amount in major units, or the percentage; null if not set */
            sum?: number | null;
            /** @description How often it is due; `once`, `one_time` or `one_off` is charged with a booking. May be, any word; null if not set */
            frequency?: string | null;
        };
        FeedPagination: {
            /** @description The page requested */
            current_page: number;
            /** @description Items per page */
            per_page: number;
            /** @description Items that match, over all pages */
            total: number;
            /** @description The last page; read on while it is greater than `current_page` */
            last_page: number;
            /** @description Position of the first item of this page, from 1; null if the page is empty */
            from: number | null;
            /** @description Position of the last item of this page; null if the page is empty */
            to: number | null;
            /** @description Cursor of the next page; null on the last page */
            next_cursor: string | null;
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
             * @description When the host account was created
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the host last logged in; equal to `created_at` before the first login
             */
            last_login_at: string;
        };
        Key: {
            /** @description Id of the key; it survives a rotation */
            id: number;
            /** @description What the administrator called the key */
            name: string;
            /** @description The host account that the key acts for */
            host: {
                /** @description Name of the host account that the key belongs to */
                name: string;
                /**
                 * Format: email
                 * @description E-mail address of that host account
                 */
                email: string;
            };
            /** @description What the key may do; each operation names the permission that it needs */
            permissions: ("users.read" | "users.write" | "bookings.read" | "bookings.write" | "listings.read" | "listings.write")[];
            /**
             * @description Status of the key; unless it is `active`, requests get 401
             * @enum {string}
             */
            status: "active" | "inactive" | "expired" | "revoked" | (string & {});
            /**
             * Format: date-time
             * @description When the key expires; null if it does not
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When the previous secret of a rotated key stops working; null if no rotation is running
             */
            previous_expires_at: string | null;
            /** @description The main rate limit of the key */
            rate_limit: {
                /** @description Requests allowed in any window */
                limit: number;
                /** @description Requests left at this moment */
                remaining: number;
                /** @description Length of the window in seconds */
                window_seconds: number;
            };
            /** @description How much the key has been used */
            usage: {
                /** @description Requests made with the key so far, at most 2 s late */
                count: number;
                /**
                 * Format: date-time
                 * @description When the key was last used; null if never
                 */
                last_used_at: string | null;
            };
        };
        Listing: {
            /** @description Our id of the listing */
            id: number;
            /** @description Another id of the listing, unique everywhere */
            unique_id: string;
            /**
             * @description Status of the listing; an administrator changes it
             * @enum {string}
             */
            listing_status: "draft" | "pending" | "published" | "inactive" | (string & {});
            /** @description Your own id of the listing, unique within the host; decides which listing a create updates; null if not set */
            original_id: string | null;
            /**
             * Format: uri
             * @description Address of the listing on your side; recognizes it where ids are missing; stored, never fetched; null if not set
             */
            original_url: string | null;
            /** @description Name of the listing */
            name: string;
            /** @description Size of the property, in `property_size_unit`; null if not set */
            property_size: number | null;
            /** @description Unit of `property_size`, any word; null if not set */
            property_size_unit: string | null;
            /** @description Parking; null if not set */
            parking: string | null;
            /** @description Download speed in Mbit/s; null if not set */
            internet_download: number | null;
            /** @description Upload speed in Mbit/s; null if not set */
            internet_upload: number | null;
            /** @description Number of bedrooms; null if not set */
            bedrooms: number | null;
            /** @description Number of bathrooms; null if not set */
            bathrooms: number | null;
            /** @description Number of residents; null if not set */
            residents: number | null;
            /** @description Texts for guests */
            descriptions: {
                /** @description About the property; null if not set */
                property: string | null;
                /** @description About the neighbourhood; null if not set */
                neighborhood: string | null;
                /** @description About the people who live there; null if not set */
                community: string | null;
            };
            /** @description Where it is */
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
                /** @description Country, as a name or code; null if not set */
                country: string | null;
                /** @description Latitude in degrees; null if not set */
                lat: number | null;
                /** @description Longitude in degrees; null if not set */
                lng: number | null;
            };
            /** @description What the property offers; replaced as a whole with each write */
            amenities: components["schemas"]["Reference"][];
            /** @description Prices of the whole listing */
            prices: {
                /** @description ISO currency code of all prices of the listing; null if not set */
                currency: string | null;
                /** @description Kind of security deposit, any word; null if not set */
                security_deposit_type: string | null;
                /** @description Security deposit, in major units; null if not set */
                security_deposit: number | null;
                /** @description Fees beside the rent; replaced as a whole with each write */
                extra_fees: components["schemas"]["ExtraFee"][];
            };
            /** @description Room types, merged by id; room types left out stay */
            room_types: components["schemas"]["RoomType"][];
            /** @description Rules for bookings */
            bookings: {
                /** @description Shortest stay in nights; null if not set */
                stay_min: number | null;
                /** @description Notice before moving out, in days; null if not set */
                notice_min_days: number | null;
                /** @description How far ahead a guest may move in, in days; null if not set */
                move_in_max_days: number | null;
                /**
                 * Format: uri
                 * @description Where guests apply; stored, never fetched; null if not set
                 */
                application_url: string | null;
                /** @description Cancellation policy, any word; null if not set */
                cancellation_policy: string | null;
                /** @description Rules for bookings in words; null if not set */
                booking_rules: string | null;
            };
            /** @description The people who live there */
            community: {
                /** @description Youngest age; null if not set */
                age_min: number | null;
                /** @description Oldest age; null if not set */
                age_max: number | null;
                /** @description Average age; null if not set */
                age_avg: number | null;
                /** @description Gender, any word; null if not set */
                gender: string | null;
                /** @description Ratio of genders; null if not set */
                gender_ratio: number | null;
                /** @description Events; replaced as a whole with each write */
                events: components["schemas"]["Reference"][];
                /** @description Who looks after the residents */
                community_manager: {
                    /** @description Name; null if not set */
                    name: string | null;
                    /**
                     * Format: uri
                     * @description Address of a picture; stored, never fetched; null if not set
                     */
                    photo: string | null;
                    /** @description Whether the manager is on site: 1 yes, 0 no; null if not set */
                    onsite: number | null;
                };
                /** @description Kinds of community; replaced as a whole with each write */
                types: components["schemas"]["Reference"][];
            };
            /** @description Pictures and tours */
            media: {
                /**
                 * Format: uri
                 * @description Address of a 3D tour; stored, never fetched; null if not set
                 */
                "3d_tour": string | null;
                /** @description A video */
                video_tour: {
                    /** @description Host of the video, any word; null if not set */
                    type: string | null;
                    /**
                     * Format: uri
                     * @description Address of the video; stored, never fetched; null if not set
                     */
                    url: string | null;
                };
                /** @description Photos */
                photos: {
                    /** @description Photos of the property; replaced as a whole with each write */
                    property: components["schemas"]["Photo"][];
                    /** @description Photos of the community; replaced as a whole with each write */
                    community: components["schemas"]["Photo"][];
                };
            };
            /** @description What a guest needs on arrival and departure */
            instructions: {
                /** @description Earliest check-in, as HH:MM; null if not set */
                check_in_earliest: string | null;
                /** @description Latest check-in, as HH:MM; null if not set */
                check_in_latest: string | null;
                /** @description Latest check-out, as HH:MM; null if not set */
                check_out_latest: string | null;
                /** @description Who receives the guest; null if not set */
                check_in_contact_person: string | null;
                /** @description Country code of the telephone number; null if not set */
                check_in_telephone_country: string | null;
                /** @description Telephone number; null if not set */
                check_in_telephone_number: string | null;
                /** @description How to get in; null if not set */
                check_in_instructions: string | null;
                /** @description How to get there; null if not set */
                directions: string | null;
                /** @description How the house works; null if not set */
                house_manual: string | null;
            };
            /** @description Frequently asked questions; replaced as a whole with each write */
            faq: components["schemas"]["FrequentQuestion"][];
            /** @description Ratings elsewhere */
            rating: {
                /** @description Id in an external directory of places; null if not set */
                places_id: string | null;
            };
            /**
             * Format: date-time
             * @description When the listing was created
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the listing or its rates last changed
             */
            updated_at: string;
        };
        ListingCreate: {
            /** @description Your own id of the listing, unique within the host; decides which listing a create updates; null if not set */
            original_id?: string | null;
            /**
             * Format: uri
             * @description Address of the listing on your side; recognizes it where ids are missing; stored, never fetched; null if not set
             */
            original_url?: string | null;
            /** @description Name of the listing */
            name: string;
            /** @description Size of the property, in `property_size_unit`; null if not set */
            property_size?: number | null;
            /** @description Unit of `property_size`, any word; null if not set */
            property_size_unit?: string | null;
            /** @description Parking; null if not set */
            parking?: string | null;
            /** @description Download speed in Mbit/s; null if not set */
            internet_download?: number | null;
            /** @description Upload speed in Mbit/s; null if not set */
            internet_upload?: number | null;
            /** @description Number of bedrooms; null if not set */
            bedrooms?: number | null;
            /** @description Number of bathrooms; null if not set */
            bathrooms?: number | null;
            /** @description Number of residents; null if not set */
            residents?: number | null;
            /** @description Texts for guests */
            descriptions?: {
                /** @description About the property; null if not set */
                property?: string | null;
                /** @description About the neighbourhood; null if not set */
                neighborhood?: string | null;
                /** @description About the people who live there; null if not set */
                community?: string | null;
            };
            /** @description Where it is */
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
                /** @description Country, as a name or code; null if not set */
                country?: string | null;
                /** @description Latitude in degrees; null if not set */
                lat?: number | null;
                /** @description Longitude in degrees; null if not set */
                lng?: number | null;
            };
            /** @description What the property offers; replaced as a whole with each write; at most 500 */
            amenities?: components["schemas"]["ReferenceWrite"][];
            /** @description Prices of the whole listing */
            prices?: {
                /** @description ISO currency code of all prices of the listing; null if not set */
                currency?: string | null;
                /** @description Kind of security deposit, any word; null if not set */
                security_deposit_type?: string | null;
                /** @description Security deposit, in major units; null if not set */
                security_deposit?: number | null;
                /** @description Fees beside the rent; replaced as a whole with each write; at most 500 */
                extra_fees?: components["schemas"]["ExtraFeeWrite"][];
            };
            /** @description Room types, merged by id; room types left out stay; at most 500 */
            room_types?: components["schemas"]["RoomTypeWrite"][];
            /** @description Rules for bookings */
            bookings?: {
                /** @description Shortest stay in nights; null if not set */
                stay_min?: number | null;
                /** @description Notice before moving out, in days; null if not set */
                notice_min_days?: number | null;
                /** @description How far ahead a guest may move in, in days; null if not set */
                move_in_max_days?: number | null;
                /**
                 * Format: uri
                 * @description Where guests apply; stored, never fetched; null if not set
                 */
                application_url?: string | null;
                /** @description Cancellation policy, any word; null if not set */
                cancellation_policy?: string | null;
                /** @description Rules for bookings in words; null if not set */
                booking_rules?: string | null;
            };
            /** @description The people who live there */
            community?: {
                /** @description Youngest age; null if not set */
                age_min?: number | null;
                /** @description Oldest age; null if not set */
                age_max?: number | null;
                /** @description Average age; null if not set */
                age_avg?: number | null;
                /** @description Gender, any word; null if not set */
                gender?: string | null;
                /** @description Ratio of genders; null if not set */
                gender_ratio?: number | null;
                /** @description Events; replaced as a whole with each write; at most 500 */
                events?: components["schemas"]["ReferenceWrite"][];
                /** @description Who looks after the residents */
                community_manager?: {
                    /** @description Name; null if not set */
                    name?: string | null;
                    /**
                     * Format: uri
                     * @description Address of a picture; stored, never fetched; null if not set
                     */
                    photo?: string | null;
                    /** @description Whether the manager is on site: 1 yes, 0 no; null if not set */
                    onsite?: number | null;
                };
                /** @description Kinds of community; replaced as a whole with each write; at most 500 */
                types?: components["schemas"]["ReferenceWrite"][];
            };
            /** @description Pictures and tours */
            media?: {
                /**
                 * Format: uri
                 * @description Address of a 3D tour; stored, never fetched; null if not set
                 */
                "3d_tour"?: string | null;
                /** @description A video */
                video_tour?: {
                    /** @description Host of the video, any word; null if not set */
                    type?: string | null;
                    /**
                     * Format: uri
                     * @description Address of the video; stored, never fetched; null if not set
                     */
                    url?: string | null;
                };
                /** @description Photos */
                photos?: {
                    /** @description Photos of the property; replaced as a whole with each write; at most 500 */
                    property?: components["schemas"]["PhotoWrite"][];
                    /** @description Photos of the community; replaced as a whole with each write; at most 500 */
                    community?: components["schemas"]["PhotoWrite"][];
                };
            };
            /** @description What a guest needs on arrival and departure */
            instructions?: {
                /** @description Earliest check-in, as HH:MM; null if not set */
                check_in_earliest?: string | null;
                /** @description Latest check-in, as HH:MM; null if not set */
                check_in_latest?: string | null;
                /** @description Latest check-out, as HH:MM; null if not set */
                check_out_latest?: string | null;
                /** @description Who receives the guest; null if not set */
                check_in_contact_person?: string | null;
                /** @description Country code of the telephone number; null if not set */
                check_in_telephone_country?: string | null;
                /** @description Telephone number; null if not set */
                check_in_telephone_number?: string | null;
                /** @description How to get in; null if not set */
                check_in_instructions?: string | null;
                /** @description How to get there; null if not set */
                directions?: string | null;
                /** @description How the house works; null if not set */
                house_manual?: string | null;
            };
            /** @description Frequently asked questions; replaced as a whole with each write; at most 500 */
            faq?: components["schemas"]["FrequentQuestionWrite"][];
            /** @description Ratings elsewhere */
            rating?: {
                /** @description Id in an external directory of places; null if not set */
                places_id?: string | null;
            };
        };
        ListingPatch: {
            /** @description Your own id of the listing, unique within the host; decides which listing a create updates; null if not set */
            original_id?: string | null;
            /**
             * Format: uri
             * @description Address of the listing on your side; recognizes it where ids are missing; stored, never fetched; null if not set
             */
            original_url?: string | null;
            /** @description Name of the listing */
            name?: string;
            /** @description Size of the property, in `property_size_unit`; null if not set */
            property_size?: number | null;
            /** @description Unit of `property_size`, any word; null if not set */
            property_size_unit?: string | null;
            /** @description Parking; null if not set */
            parking?: string | null;
            /** @description Download speed in Mbit/s; null if not set */
            internet_download?: number | null;
            /** @description Upload speed in Mbit/s; null if not set */
            internet_upload?: number | null;
            /** @description Number of bedrooms; null if not set */
            bedrooms?: number | null;
            /** @description Number of bathrooms; null if not set */
            bathrooms?: number | null;
            /** @description Number of residents; null if not set */
            residents?: number | null;
            /** @description Texts for guests */
            descriptions?: {
                /** @description About the property; null if not set */
                property?: string | null;
                /** @description About the neighbourhood; null if not set */
                neighborhood?: string | null;
                /** @description About the people who live there; null if not set */
                community?: string | null;
            };
            /** @description Where it is */
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
                /** @description Country, as a name or code; null if not set */
                country?: string | null;
                /** @description Latitude in degrees; null if not set */
                lat?: number | null;
                /** @description Longitude in degrees; null if not set */
                lng?: number | null;
            };
            /** @description What the property offers; replaced as a whole with each write; at most 500 */
            amenities?: components["schemas"]["ReferenceWrite"][];
            /** @description Prices of the whole listing */
            prices?: {
                /** @description ISO currency code of all prices of the listing; null if not set */
                currency?: string | null;
                /** @description Kind of security deposit, any word; null if not set */
                security_deposit_type?: string | null;
                /** @description Security deposit, in major units; null if not set */
                security_deposit?: number | null;
                /** @description Fees beside the rent; replaced as a whole with each write; at most 500 */
                extra_fees?: components["schemas"]["ExtraFeeWrite"][];
            };
            /** @description Room types, merged by id; room types left out stay; at most 500 */
            room_types?: components["schemas"]["RoomTypeWrite"][];
            /** @description Rules for bookings */
            bookings?: {
                /** @description Shortest stay in nights; null if not set */
                stay_min?: number | null;
                /** @description Notice before moving out, in days; null if not set */
                notice_min_days?: number | null;
                /** @description How far ahead a guest may move in, in days; null if not set */
                move_in_max_days?: number | null;
                /**
                 * Format: uri
                 * @description Where guests apply; stored, never fetched; null if not set
                 */
                application_url?: string | null;
                /** @description Cancellation policy, any word; null if not set */
                cancellation_policy?: string | null;
                /** @description Rules for bookings in words; null if not set */
                booking_rules?: string | null;
            };
            /** @description The people who live there */
            community?: {
                /** @description Youngest age; null if not set */
                age_min?: number | null;
                /** @description Oldest age; null if not set */
                age_max?: number | null;
                /** @description Average age; null if not set */
                age_avg?: number | null;
                /** @description Gender, any word; null if not set */
                gender?: string | null;
                /** @description Ratio of genders; null if not set */
                gender_ratio?: number | null;
                /** @description Events; replaced as a whole with each write; at most 500 */
                events?: components["schemas"]["ReferenceWrite"][];
                /** @description Who looks after the residents */
                community_manager?: {
                    /** @description Name; null if not set */
                    name?: string | null;
                    /**
                     * Format: uri
                     * @description Address of a picture; stored, never fetched; null if not set
                     */
                    photo?: string | null;
                    /** @description Whether the manager is on site: 1 yes, 0 no; null if not set */
                    onsite?: number | null;
                };
                /** @description Kinds of community; replaced as a whole with each write; at most 500 */
                types?: components["schemas"]["ReferenceWrite"][];
            };
            /** @description Pictures and tours */
            media?: {
                /**
                 * Format: uri
                 * @description Address of a 3D tour; stored, never fetched; null if not set
                 */
                "3d_tour"?: string | null;
                /** @description A video */
                video_tour?: {
                    /** @description Host of the video, any word; null if not set */
                    type?: string | null;
                    /**
                     * Format: uri
                     * @description Address of the video; stored, never fetched; null if not set
                     */
                    url?: string | null;
                };
                /** @description Photos */
                photos?: {
                    /** @description Photos of the property; replaced as a whole with each write; at most 500 */
                    property?: components["schemas"]["PhotoWrite"][];
                    /** @description Photos of the community; replaced as a whole with each write; at most 500 */
                    community?: components["schemas"]["PhotoWrite"][];
                };
            };
            /** @description What a guest needs on arrival and departure */
            instructions?: {
                /** @description Earliest check-in, as HH:MM; null if not set */
                check_in_earliest?: string | null;
                /** @description Latest check-in, as HH:MM; null if not set */
                check_in_latest?: string | null;
                /** @description Latest check-out, as HH:MM; null if not set */
                check_out_latest?: string | null;
                /** @description Who receives the guest; null if not set */
                check_in_contact_person?: string | null;
                /** @description Country code of the telephone number; null if not set */
                check_in_telephone_country?: string | null;
                /** @description Telephone number; null if not set */
                check_in_telephone_number?: string | null;
                /** @description How to get in; null if not set */
                check_in_instructions?: string | null;
                /** @description How to get there; null if not set */
                directions?: string | null;
                /** @description How the house works; null if not set */
                house_manual?: string | null;
            };
            /** @description Frequently asked questions; replaced as a whole with each write; at most 500 */
            faq?: components["schemas"]["FrequentQuestionWrite"][];
            /** @description Ratings elsewhere */
            rating?: {
                /** @description Id in an external directory of places; null if not set */
                places_id?: string | null;
            };
        };
        ListingSummary: {
            /** @description Our id of the listing */
            id: number;
            /** @description Another id of the listing, unique everywhere */
            unique_id: string;
            /** @description Your own id of the listing; null if not set */
            original_id: string | null;
            /** @description Name of the listing */
            name: string;
            /**
             * @description Status of the listing; an administrator changes it
             * @enum {string}
             */
            listing_status: "draft" | "pending" | "published" | "inactive" | (string & {});
            /**
             * Format: date-time
             * @description When the listing or its rates last changed
             */
            updated_at: string;
            /** @description Its room types */
            room_types: components["schemas"]["RoomTypeName"][];
        };
        ListingWriteResult: {
            /**
             * @description What was done
             * @enum {string}
             */
            action: "created" | "updated" | (string & {});
            /** @description The listing that was written */
            data: {
                /** @description Our id of the listing */
                id: number;
                /** @description Your own id of the listing; null if not set */
                original_id: string | null;
                /** @description Where to look at it */
                links: {
                    /**
                     * Format: uri
                     * @description Address of a preview page
                     */
                    preview: string;
                };
            };
            /** @description About the response */
            meta: {
                /** @description Id of the request, for questions to support */
                request_id?: string;
                /**
                 * @description Present and true in the sandbox
                 * @constant
                 */
                sandbox?: true;
            };
        };
        Message: {
            /** @description Id of the message */
            id: number;
            /**
             * @description Who sent it
             * @enum {string}
             */
            sender: "guest" | "host" | (string & {});
            /** @description Name of the sender when it was sent */
            sender_name: string;
            /** @description Text of the message */
            text: string;
            /** @description Whether the message has been seen; reading it here does not change that */
            is_seen: boolean;
        };
        MessageCreate: {
            /** @description The message to the guest */
            message: {
                /** @description Text of the message, trimmed; the same text again within a minute is not sent twice */
                text: string;
            };
        };
        NewMessage: {
            /** @description Id of the message */
            id: number;
            /**
             * @description Who sent it
             * @enum {string}
             */
            sender: "guest" | "host" | (string & {});
            /** @description Name of the sender when it was sent */
            sender_name: string;
            /** @description Text of the message */
            text: string;
            /** @description Whether the message has been seen; reading it here does not change that */
            is_seen: boolean;
            /** @description Id of the booking whose conversation it belongs to */
            booking_id: number;
            /** @description Id of the listing of that booking */
            listing_id: number;
            /**
             * Format: date-time
             * @description When it was sent
             */
            sent_at: string;
            /** @description Version of this message, in UTC; pass the last one as `updated_after` */
            version: string;
            /**
             * Format: date-time
             * @description When its text was erased; null for all others
             */
            erased_at: string | null;
        };
        Night: {
            /**
             * Format: date
             * @description The night, by its first day
             */
            date: string;
            /** @description Units of the range that covers the night; null where no range does, which leaves it open */
            available: number | null;
            /** @description Active stays that are subtracted: those made since the range was written, or all without one */
            booked: number;
            /** @description What is left: a booking is refused at 0; null where no range covers the night */
            left: number | null;
        };
        Pagination: {
            /** @description The page requested */
            current_page: number;
            /** @description Items per page */
            per_page: number;
            /** @description Items that match, over all pages */
            total: number;
            /** @description The last page; read on while it is greater than `current_page` */
            last_page: number;
            /** @description Position of the first item of this page, from 1; null if the page is empty */
            from: number | null;
            /** @description Position of the last item of this page; null if the page is empty */
            to: number | null;
        };
        Photo: {
            /**
             * Format: uri
             * @description Address of the picture; stored, never fetched; null if not set
             */
            url: string | null;
            /** @description What the picture shows; null if not set */
            description: string | null;
        };
        PhotoWrite: {
            /**
             * Format: uri
             * @description Address of the picture; stored, never fetched; null if not set
             */
            url?: string | null;
            /** @description What the picture shows; null if not set */
            description?: string | null;
        };
        /** @description One field that is wrong */
        Problem: {
            /** @description Which field, with dots and indexes: `room_types.0.name` */
            path: string;
            /**
             * @description What is wrong, for programs
             * @enum {string}
             */
            code: "required" | "invalid" | "max" | "min" | "unavailable" | "conflict" | "forbidden" | "rate_limited";
            /** @description What is wrong, for people */
            message: string;
        };
        ProviderKeyResult: {
            /**
             * @description What was done with the key
             * @enum {string}
             */
            status: "created" | "updated" | "unchanged" | (string & {});
            /** @description The same in words */
            message: string;
        };
        ProviderKeyWrite: {
            /** @description The host's own key at the provider, trimmed; stored encrypted and never shown again */
            provider_api_key: string;
        };
        RateItem: {
            /** @description Id of the listing */
            listing_id: number;
            /** @description Id of a room type of that listing */
            room_type_id: number;
            /** @description Price of a month without a price of its own, in major units */
            base_price: number;
            /** @description ISO currency code, which must equal the listing's currency; null or absent means the listing's currency */
            currency?: string | null;
            /** @description Price of January in major units; null clears it, absent keeps it */
            price_jan?: number | null;
            /** @description Price of February in major units; null clears it, absent keeps it */
            price_feb?: number | null;
            /** @description Price of March in major units; null clears it, absent keeps it */
            price_mar?: number | null;
            /** @description Price of April in major units; null clears it, absent keeps it */
            price_apr?: number | null;
            /** @description Price of May in major units; null clears it, absent keeps it */
            price_may?: number | null;
            /** @description Price of June in major units; null clears it, absent keeps it */
            price_jun?: number | null;
            /** @description Price of July in major units; null clears it, absent keeps it */
            price_jul?: number | null;
            /** @description Price of August in major units; null clears it, absent keeps it */
            price_aug?: number | null;
            /** @description Price of September in major units; null clears it, absent keeps it */
            price_sep?: number | null;
            /** @description Price of October in major units; null clears it, absent keeps it */
            price_oct?: number | null;
            /** @description Price of November in major units; null clears it, absent keeps it */
            price_nov?: number | null;
            /** @description Price of December in major units; null clears it, absent keeps it */
            price_dec?: number | null;
        };
        RateJob: {
            /** @description Id of the job: the `meta.job_id` of the write */
            id: number;
            /**
             * @description Whether the rates are still waiting, are applied and visible to everybody, or have failed as a whole
             * @enum {string}
             */
            status: "waiting" | "applied" | "failed" | (string & {});
            /** @description Why it failed, by item; empty otherwise */
            errors: {
                /** @description Where the problem is, as in the request: `data.0.room_type_id` */
                path: string;
                /** @description What kind of problem it is */
                code: string;
                /** @description What is expected there, in words */
                message: string;
            }[];
            /**
             * Format: date-time
             * @description When the write was accepted
             */
            accepted_at: string;
            /**
             * Format: date-time
             * @description When it was applied; null if it is not
             */
            applied_at: string | null;
            /** @description How many items the write had */
            items: number;
        };
        RatesWrite: {
            /** @description Items, written all or nothing; later ones win; at most 1000 */
            data: components["schemas"]["RateItem"][];
        };
        Reference: {
            /** @description Id in the platform's own list */
            id: number;
        };
        ReferenceWrite: {
            /** @description Id in the platform's own list */
            id: number;
        };
        Request: {
            /** @description Id of this entry; a request id may repeat */
            id: string;
            /** @description The `X-Request-Id` of the response; null where ids are switched off */
            request_id: string | null;
            /**
             * Format: date-time
             * @description When the request arrived
             */
            at: string;
            /** @description Method of the request */
            method: string;
            /** @description Path of the request without its query; `…` stands for what had not its proper form */
            path: string;
            /** @description Status of the response; 0 where a fault of the sandbox left the request without one */
            status: number;
            /** @description The error of the response; null for a success */
            error: {
                /** @description Kind of error, as in the response */
                type: string;
                /** @description What went wrong, in words */
                message: string;
                /** @description The single problems, the first 20 of them */
                errors: {
                    /** @description Where the problem is, as in the request: `data.0.room_type_id` */
                    path: string;
                    /** @description What kind of problem it is */
                    code: string;
                    /** @description What is expected there, in words */
                    message: string;
                }[];
            } | null;
            /** @description Milliseconds it took, without the time for which `wait` held it */
            duration_ms: number;
            /** @description True for the replay of an earlier response with the same `Idempotency-Key` */
            replayed: boolean;
            /** @description True for a request to the sandbox */
            sandbox: boolean;
            /** @description Address that the request came from */
            address: string;
            /** @description The fault of the sandbox that the request met; null for none */
            fault: string | null;
        };
        RequestCount: {
            /**
             * Format: date-time
             * @description Beginning of the minute; a minute without requests is left out
             */
            at: string;
            /** @description Responses below 400 */
            succeeded: number;
            /** @description Responses from 400 to 499, except 429 */
            refused: number;
            /** @description Responses with 429: beyond the rate limit */
            limited: number;
            /** @description Responses from 500 on */
            failed: number;
            /** @description Requests that a fault of the sandbox left without a response */
            unanswered: number;
        };
        Room: {
            /** @description Our id */
            id: number;
            /** @description Name of the room; null is refused once a name is stored */
            name: string | null;
            /** @description Description of the room; null if not set */
            description: string | null;
            /** @description Where its availability is kept elsewhere */
            availability: {
                /**
                 * Format: uri
                 * @description Address of an iCalendar file; stored, never fetched; null if not set
                 */
                ical: string | null;
            };
        };
        RoomName: {
            /** @description Our id of the room */
            id: number;
            /** @description Name of the room; null if it has none */
            name: string | null;
        };
        RoomType: {
            /** @description Our id */
            id: number;
            /** @description Name of the room type; null is refused once a name is stored */
            name: string | null;
            /** @description Kind of room, any word; null if not set */
            room_type: string | null;
            /** @description Kind of bed, any word; null if not set */
            bed_type: string | null;
            /** @description Kind of bathroom, any word; null if not set */
            bathroom_type: string | null;
            /** @description Gender that the room is let to, any word; null if not set */
            gender: string | null;
            /**
             * Format: uri
             * @description Where guests apply; stored, never fetched; null if not set
             */
            application_url: string | null;
            /** @description Size of the room, in `room_size_unit`; null if not set */
            room_size: number | null;
            /** @description Unit of `room_size`, any word; null if not set */
            room_size_unit: string | null;
            /** @description How many people may live in it; null if not set */
            max_occupancy: number | null;
            /**
             * Format: date
             * @description Earliest move-in date; null if not set
             */
            available_at: string | null;
            /** @description Its rooms, merged by id; rooms left out stay */
            rooms: components["schemas"]["Room"][];
            prices: components["schemas"]["RoomTypePrices"];
            /** @description What it offers; replaced as a whole with each write */
            amenities: components["schemas"]["Reference"][];
            /** @description Photos of the room type; replaced as a whole with each write */
            photos: components["schemas"]["Photo"][];
        };
        RoomTypeName: {
            /** @description Our id of the room type */
            id: number;
            /** @description Name of the room type; null if it has none */
            name: string | null;
            /** @description Its rooms */
            rooms: components["schemas"]["RoomName"][];
        };
        RoomTypePrices: {
            /** @description Price of a month without a price of its own, in major units; null if not set */
            base_price: number | null;
            /** @description Price of January instead of the base price, in major units; null if not set */
            price_jan: number | null;
            /** @description Price of February instead of the base price, in major units; null if not set */
            price_feb: number | null;
            /** @description Price of March instead of the base price, in major units; null if not set */
            price_mar: number | null;
            /** @description Price of April instead of the base price, in major units; null if not set */
            price_apr: number | null;
            /** @description Price of May instead of the base price, in major units; null if not set */
            price_may: number | null;
            /** @description Price of June instead of the base price, in major units; null if not set */
            price_jun: number | null;
            /** @description Price of July instead of the base price, in major units; null if not set */
            price_jul: number | null;
            /** @description Price of August instead of the base price, in major units; null if not set */
            price_aug: number | null;
            /** @description Price of September instead of the base price, in major units; null if not set */
            price_sep: number | null;
            /** @description Price of October instead of the base price, in major units; null if not set */
            price_oct: number | null;
            /** @description Price of November instead of the base price, in major units; null if not set */
            price_nov: number | null;
            /** @description Price of December instead of the base price, in major units; null if not set */
            price_dec: number | null;
            /** @description Discount for stays of 90 nights or more, in percent; null if not set */
            discount_90: number | null;
            /** @description Discount for stays of 180 nights or more, instead of the shorter one, in percent; null if not set */
            discount_180: number | null;
            /** @description Discount for stays of 360 nights or more, instead of the shorter ones, in percent; null if not set */
            discount_360: number | null;
        };
        RoomTypePricesWrite: {
            /** @description Price of a month without a price of its own, in major units; null if not set */
            base_price?: number | null;
            /** @description Price of January instead of the base price, in major units; null if not set */
            price_jan?: number | null;
            /** @description Price of February instead of the base price, in major units; null if not set */
            price_feb?: number | null;
            /** @description Price of March instead of the base price, in major units; null if not set */
            price_mar?: number | null;
            /** @description Price of April instead of the base price, in major units; null if not set */
            price_apr?: number | null;
            /** @description Price of May instead of the base price, in major units; null if not set */
            price_may?: number | null;
            /** @description Price of June instead of the base price, in major units; null if not set */
            price_jun?: number | null;
            /** @description Price of July instead of the base price, in major units; null if not set */
            price_jul?: number | null;
            /** @description Price of August instead of the base price, in major units; null if not set */
            price_aug?: number | null;
            /** @description Price of September instead of the base price, in major units; null if not set */
            price_sep?: number | null;
            /** @description Price of October instead of the base price, in major units; null if not set */
            price_oct?: number | null;
            /** @description Price of November instead of the base price, in major units; null if not set */
            price_nov?: number | null;
            /** @description Price of December instead of the base price, in major units; null if not set */
            price_dec?: number | null;
            /** @description Discount for stays of 90 nights or more, in percent; null if not set */
            discount_90?: number | null;
            /** @description Discount for stays of 180 nights or more, instead of the shorter one, in percent; null if not set */
            discount_180?: number | null;
            /** @description Discount for stays of 360 nights or more, instead of the shorter ones, in percent; null if not set */
            discount_360?: number | null;
        };
        RoomTypeWrite: {
            /** @description Id of the room type: ours as an integer or, on create, your own as a string; absent or null adds a new one */
            id?: (number | string) | null;
            /** @description Name of the room type; null is refused once a name is stored */
            name?: string | null;
            /** @description Kind of room, any word; null if not set */
            room_type?: string | null;
            /** @description Kind of bed, any word; null if not set */
            bed_type?: string | null;
            /** @description Kind of bathroom, any word; null if not set */
            bathroom_type?: string | null;
            /** @description Gender that the room is let to, any word; null if not set */
            gender?: string | null;
            /**
             * Format: uri
             * @description Where guests apply; stored, never fetched; null if not set
             */
            application_url?: string | null;
            /** @description Size of the room, in `room_size_unit`; null if not set */
            room_size?: number | null;
            /** @description Unit of `room_size`, any word; null if not set */
            room_size_unit?: string | null;
            /** @description How many people may live in it; null if not set */
            max_occupancy?: number | null;
            /**
             * Format: date
             * @description Earliest move-in date; null if not set
             */
            available_at?: string | null;
            /** @description Its rooms, merged by id; rooms left out stay; at most 500 */
            rooms?: components["schemas"]["RoomWrite"][];
            prices?: components["schemas"]["RoomTypePricesWrite"];
            /** @description What it offers; replaced as a whole with each write; at most 500 */
            amenities?: components["schemas"]["ReferenceWrite"][];
            /** @description Photos of the room type; replaced as a whole with each write; at most 500 */
            photos?: components["schemas"]["PhotoWrite"][];
        };
        RoomWrite: {
            /** @description Id of the room: ours as an integer or, on create, your own as a string; absent or null adds a new one */
            id?: (number | string) | null;
            /** @description Name of the room; null is refused once a name is stored */
            name?: string | null;
            /** @description Description of the room; null if not set */
            description?: string | null;
            /** @description Where its availability is kept elsewhere */
            availability?: {
                /**
                 * Format: uri
                 * @description Address of an iCalendar file; stored, never fetched; null if not set
                 */
                ical?: string | null;
            };
        };
        SandboxClock: {
            /**
             * Format: date-time
             * @description What time it is in this sandbox
             */
            now: string;
            /** @description How far its clock is ahead, in seconds */
            advanced_seconds: number;
        };
        SandboxFault: {
            /**
             * @description What is met
             * @enum {string}
             */
            fault: "rate_limited" | "internal_error" | "bad_gateway" | "unauthorized" | "slow" | "lost_request" | "lost_response" | "cut_response" | "hint_lost" | "hint_twice" | "hint_late" | "hint_forged" | "hint_old" | (string & {});
            /** @description Only requests of this operation; null for each */
            operation: string | null;
            /** @description Only hints of this event; null for each */
            event: string | null;
            /** @description So many pass first */
            after: number;
            /** @description So many meet the fault then */
            times: number;
            /** @description Of `rate_limited`: its `Retry-After` */
            retry_after_seconds: number;
            /** @description Of `slow` and `hint_late`: how long it waits */
            delay_milliseconds: number;
            /** @description What is left of both */
            left: {
                /** @description So many more pass */
                after: number;
                /** @description So many more meet it */
                times: number;
            };
        };
        SandboxFaults: {
            /** @description The rules, in their order */
            rules: components["schemas"]["SandboxFault"][];
        };
        SandboxFaultsWrite: {
            /** @description The rules; of those that match, the first that is not used up counts; at most 20 */
            rules: {
                /**
                 * @description What is met
                 * @enum {string}
                 */
                fault: "rate_limited" | "internal_error" | "bad_gateway" | "unauthorized" | "slow" | "lost_request" | "lost_response" | "cut_response" | "hint_lost" | "hint_twice" | "hint_late" | "hint_forged" | "hint_old";
                /** @description Only requests of this operation, by its id below `/v1`; absent: of each */
                operation?: string;
                /**
                 * @description For a fault of hints: only hints of this event; absent: of each
                 * @enum {string}
                 */
                event?: "booking.changed" | "message.created";
                /**
                 * @description So many pass first
                 * @default 0
                 */
                after?: number;
                /**
                 * @description So many meet the fault then
                 * @default 1
                 */
                times?: number;
                /**
                 * @description Of `rate_limited`: its `Retry-After`
                 * @default 5
                 */
                retry_after_seconds?: number;
                /**
                 * @description Of `slow` and `hint_late`: how long it waits
                 * @default 2000
                 */
                delay_milliseconds?: number;
            }[];
        };
        SandboxScenario: {
            /** @description What it is called */
            name: string;
            /** @description What happens, and which mistake of an integration it finds */
            summary: string;
            /** @description What it takes */
            parameters: string[];
        };
        SandboxScenarioParameters: {
            /** @description Where it plays; null for the first listing with units left */
            listing_id?: number | null;
            /** @description The booking that it is about; null for the newest that fits */
            booking_id?: number | null;
            /** @description How many; 1 for null */
            count?: number | null;
            /**
             * Format: date
             * @description First night of its stays, of 30 nights each; null for today in 30 days
             */
            checkin_at?: string | null;
        };
        SandboxScenarioPlayed: {
            /** @description The scenario that was played */
            scenario: string;
            /** @description The bookings that it made or changed, in order */
            bookings: {
                /** @description Id of the booking */
                booking_id: number;
                /**
                 * @description Status of the booking
                 * @enum {string}
                 */
                status: "pending" | "confirmed" | "cancelled" | (string & {});
            }[];
            /** @description The messages that guests wrote, in order */
            messages: {
                /** @description Id of the message */
                id: number;
                /** @description Id of the booking */
                booking_id: number;
            }[];
            /** @description Where it played; null for several */
            listing_id: number | null;
            /** @description The same of the room type */
            room_type_id: number | null;
            /** @description The nights of which one unit was left */
            nights: string[];
        };
        User: {
            /** @description Id of the user */
            user_id: number;
            /** @description First and last name, formatted */
            name: string;
            /**
             * Format: email
             * @description E-mail address, trimmed and in lower case; unique among the users of the host
             */
            email: string;
            /** @description First name; title-cased if it is all in upper or all in lower case */
            first_name: string;
            /** @description Last name; title-cased if it is all in upper or all in lower case */
            last_name: string;
            /** @description Telephone number as the guest writes it; null if unknown */
            phone: string | null;
            /**
             * Format: date
             * @description Date of birth, in the past; null if unknown
             */
            date_of_birth: string | null;
            /** @description Gender, any word; null if unknown */
            gender: string | null;
            /** @description Country as a name or two-letter code; null if unknown */
            country: string | null;
            /** @description City; null if unknown */
            city: string | null;
            /** @description IANA time zone; `UTC` if null or absent */
            timezone: string;
            /** @description Short language code; `en` if null or absent */
            language: string;
            /** @description Status of the account: 1 is active */
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
             * @description When the address was verified; null if it has not been
             */
            email_verified_at: string | null;
            /**
             * Format: date-time
             * @description Last login; the time of creation before the first one
             */
            login_at: string;
            /** @description Number of logins, 1 on creation */
            login_amount: number;
            /** @description Client address that the account was created from */
            login_ip: string;
            /**
             * @description Where the account comes from
             * @enum {string}
             */
            source: "api";
            /** @description Whether it was created through this interface */
            api_created: boolean;
            /**
             * Format: date-time
             * @description When the account was created
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the account was last changed
             */
            updated_at: string;
        };
        UserCreate: {
            /**
             * Format: email
             * @description E-mail address, trimmed and in lower case; unique among the users of the host
             */
            email: string;
            /** @description Password of the account, 8 to 128 characters, never shown again; null for an account without one */
            password?: string | null;
            /** @description First name; title-cased if it is all in upper or all in lower case */
            first_name: string;
            /** @description Last name; title-cased if it is all in upper or all in lower case */
            last_name: string;
            /** @description Telephone number as the guest writes it; null if unknown */
            phone?: string | null;
            /**
             * Format: date
             * @description Date of birth, in the past; null if unknown
             */
            date_of_birth?: string | null;
            /** @description Gender, any word; null if unknown */
            gender?: string | null;
            /** @description Country as a name or two-letter code; null if unknown */
            country?: string | null;
            /** @description City; null if unknown */
            city?: string | null;
            /** @description IANA time zone; `UTC` if null or absent */
            timezone?: string | null;
            /** @description Short language code; `en` if null or absent */
            language?: string | null;
        };
        Webhook: {
            /** @description Id of the webhook */
            id: number;
            /** @description Where hints are posted */
            url: string;
            /** @description What is hinted */
            events: ("booking.changed" | "message.created")[];
            /** @description Whether hints are sent */
            enabled: boolean;
            /**
             * Format: date-time
             * @description Since when it is off; null while it is on
             */
            disabled_at: string | null;
            /** @description Why it is off: `gone`, `failing`, `partner`, `administrator`, `key_ended`; null while it is on */
            disabled_reason: string | null;
            /** @description Id of the key that the endpoint belongs to */
            created_by: number;
        };
        WebhookCreate: {
            /**
             * Format: uri
             * @description Where hints are posted: `https` and a public address. For a program on your own machine there is `partnerctl listen`
             */
            url: string;
            /** @description What is hinted; at most 2 */
            events: ("booking.changed" | "message.created")[];
        };
        WebhookDelivery: {
            /** @description Id of the delivery, which is its `webhook-id` */
            id: string;
            /** @description What was hinted */
            event: string;
            /**
             * @description What became of it
             * @enum {string}
             */
            status: "waiting" | "delivered" | "failed" | (string & {});
            /** @description Tries so far */
            attempts: number;
            /** @description Status of the last response; null where there was none */
            response_status: number | null;
            /** @description How long the last try took; null before the first */
            milliseconds: number | null;
            /** @description Why there was no response: `timeout`, `connection` or `address`; null otherwise */
            error: string | null;
            /** @description What went wrong with a `connection`: `refused`, `reset`, `tls` or `dns`; null if it is not known */
            error_detail: string | null;
            /** @description The fault of the sandbox that its first try met; null for none */
            fault: string | null;
            /**
             * Format: date-time
             * @description When it is tried next; null for never, and while it is being tried
             */
            next_attempt_at: string | null;
        };
        WebhookPatch: {
            /**
             * Format: uri
             * @description Where hints are posted: `https` and a public address. For a program on your own machine there is `partnerctl listen`
             */
            url?: string;
            /** @description What is hinted; at most 2 */
            events?: ("booking.changed" | "message.created")[];
            /** @description Whether hints are sent */
            enabled?: boolean;
        };
        WebhookWithSecret: {
            /** @description Id of the webhook */
            id: number;
            /** @description Where hints are posted */
            url: string;
            /** @description What is hinted */
            events: ("booking.changed" | "message.created")[];
            /** @description Whether hints are sent */
            enabled: boolean;
            /**
             * Format: date-time
             * @description Since when it is off; null while it is on
             */
            disabled_at: string | null;
            /** @description Why it is off: `gone`, `failing`, `partner`, `administrator`, `key_ended`; null while it is on */
            disabled_reason: string | null;
            /** @description Id of the key that the endpoint belongs to */
            created_by: number;
            /** @description What hints are signed with, shown only now */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    listRequests: {
        parameters: {
            query?: {
                /** @description Items per page (default 50, maximum 100) */
                per_page?: number;
                /** @description The `next_cursor` of the previous page; belongs to its key */
                cursor?: string;
                /** @description Only these statuses: `2xx` to `5xx`, a number, or `unanswered` for those that a fault of the sandbox left without a response; may be repeated; at most 20 */
                status?: string[];
                /** @description Only the request with this `X-Request-Id` */
                request_id?: string;
                /** @description Only requests that arrived at this time or later: ISO 8601, or `YYYY-MM-DD HH:MM:SS` in UTC */
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
                        /** @description The requests of this page, newest first */
                        data: components["schemas"]["Request"][];
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Only the minutes from this one on: ISO 8601, or `YYYY-MM-DD HH:MM:SS` in UTC */
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
                        /** @description The last 24 hours by minute, oldest first */
                        data: components["schemas"]["RequestCount"][];
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Makes a retry safe: the same key and body get the first response again */
                "Idempotency-Key"?: string;
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    listListings: {
        parameters: {
            query?: {
                /** @description The page to return, from 1 (default 1) */
                page?: number;
                /** @description Items per page (default 50, maximum 100) */
                per_page?: number;
                /** @description Order by this field; by status, name and latest update if absent */
                sort?: "id" | "name" | "updated_at" | "listing_status";
                /** @description Direction of `sort`; `desc` for `updated_at`, else `asc`, if absent */
                order?: "asc" | "desc";
                /** @description Only these statuses; may be repeated; at most 100 */
                listing_status?: ("draft" | "pending" | "published" | "inactive")[];
                /** @description Only listings whose name contains this text, in any case */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Makes a retry safe: the same key and body get the first response again */
                "Idempotency-Key"?: string;
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    updateListing: {
        parameters: {
            query?: never;
            header?: never;
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
                /** @description Makes a retry safe: the same key and body get the first response again */
                "Idempotency-Key"?: string;
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Makes a retry safe: the same key and body get the first response again */
                "Idempotency-Key"?: string;
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Makes a retry safe: the same key and body get the first response again */
                "Idempotency-Key"?: string;
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    listMessages: {
        parameters: {
            query?: {
                /** @description The page to return, from 1 (default 1) */
                page?: number;
                /** @description Items per page (default 50, maximum 100) */
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
                            /** @description Messages of this page, oldest first */
                            messages: components["schemas"]["Message"][];
                        };
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
            header?: never;
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
                        /** @description The message as it was stored */
                        data: {
                            message: components["schemas"]["Message"];
                        };
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    storeProviderKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    getAvailability: {
        parameters: {
            query?: {
                /** @description The page to return, from 1 (default 1) */
                page?: number;
                /** @description Items per page (default 100, maximum 500) */
                per_page?: number;
                /** @description Only this listing */
                listing_id?: string;
                /** @description Only this room type */
                room_type_id?: string;
                /** @description Only ranges that end on or after this day */
                start_date?: string;
                /** @description Only ranges that start on or before this day */
                end_date?: string;
            };
            header?: never;
            path: {
                /** @description The integration provider; currently only `provider_one` */
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
                            /** @description By listing id, then by room type id: the ranges, by their first day */
                            availabilities: {
                                [key: string]: {
                                    [key: string]: components["schemas"]["AvailabilityRow"][];
                                };
                            };
                        };
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Makes a retry safe: the same key and body get the first response again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    getNights: {
        parameters: {
            query: {
                /** @description The listing */
                listing_id: string;
                /** @description Only this room type of the listing */
                room_type_id?: string;
                /** @description First night */
                start_date: string;
                /** @description Last night, included; at most 366 nights, and 20,000 over all room types */
                end_date: string;
            };
            header?: never;
            path: {
                /** @description The integration provider; currently only `provider_one` */
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
                            /** @description By listing id, then by room type id: the nights, in order */
                            nights: {
                                [key: string]: {
                                    [key: string]: components["schemas"]["Night"][];
                                };
                            };
                        };
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Makes a retry safe: the same key and body get the first response again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    pollBookings: {
        parameters: {
            query?: {
                /** @description The page to return, from 1 (default 1) */
                page?: number;
                /** @description Items per page (default 50, maximum 100) */
                per_page?: number;
                /** @description Only changes after this version, `YYYY-MM-DD HH:MM:SS`: the last `version` you have handled; a date alone means its first second */
                updated_after?: string;
                /** @description Only changes after what this consumer has acknowledged; not together with `updated_after` */
                consumer?: string;
                /** @description The `next_cursor` of the previous page; continues at the same cost at any depth */
                cursor?: string;
                /** @description Seconds to wait for the first item when the page would be empty (default 0); with a later page than the first it has no effect */
                wait?: number;
                /** @description Only stays that end on or after this day */
                checkout_after?: string;
                /** @description Only bookings of this listing */
                listing_id?: string;
            };
            header?: {
                /** @description The `ETag` of a page that you have: 304 without a body while it is still the same */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description The changes of this page */
                        data: {
                            /** @description New and changed bookings, by version */
                            Bookings: components["schemas"]["BookingChange"][];
                        };
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                            pagination: components["schemas"]["FeedPagination"];
                        };
                    };
                };
            };
        };
    };
    pollMessages: {
        parameters: {
            query?: {
                /** @description The page to return, from 1 (default 1) */
                page?: number;
                /** @description Items per page (default 50, maximum 100) */
                per_page?: number;
                /** @description Only changes after this version, `YYYY-MM-DD HH:MM:SS`: the last `version` you have handled; a date alone means its first second */
                updated_after?: string;
                /** @description Only changes after what this consumer has acknowledged; not together with `updated_after` */
                consumer?: string;
                /** @description The `next_cursor` of the previous page; continues at the same cost at any depth */
                cursor?: string;
                /** @description Seconds to wait for the first item when the page would be empty (default 0); with a later page than the first it has no effect */
                wait?: number;
                /** @description Only messages of this booking */
                booking_id?: string;
                /** @description Only messages of this side */
                sender?: "guest" | "host";
            };
            header?: {
                /** @description The `ETag` of a page that you have: 304 without a body while it is still the same */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description The messages of this page */
                        data: {
                            /** @description New messages of all conversations, by version */
                            messages: components["schemas"]["NewMessage"][];
                        };
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                            pagination: components["schemas"]["FeedPagination"];
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
                /** @description Only stays that begin in this month, by day */
                month?: string;
                /** @description Only stays that begin on this day, each of them */
                day?: string;
                /** @description With `day`: only bookings with a greater id, as `next_after` says */
                after?: string;
            };
            header?: {
                /** @description The `ETag` of a page that you have: 304 without a body while it is still the same */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description The consumers, by name */
                        data: components["schemas"]["Consumer"][];
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    putBookingConsumer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description The consumers, by name */
                        data: components["schemas"]["Consumer"][];
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    putMessageConsumer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description The integration provider; currently only `provider_one` */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                        /** @description The webhooks of the host, by id */
                        data: components["schemas"]["Webhook"][];
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Id of one of the webhooks, as `GET` lists them */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Id of one of the webhooks, as `GET` lists them */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of one of the webhooks, as `GET` lists them */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                            /** @description What was not hinted while it was off, to be read from the feeds */
                            gap?: {
                                /** @description Version of the booking feed after which nothing was hinted */
                                bookings_after: string;
                                /** @description The same of the message feed */
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
                /** @description Id of one of the webhooks, as `GET` lists them */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Id of one of the webhooks, as `GET` lists them */
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
                        data: components["schemas"]["WebhookDelivery"];
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Id of one of the webhooks, as `GET` lists them */
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
                        /** @description The last 100 deliveries, newest first */
                        data: components["schemas"]["WebhookDelivery"][];
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Id of one of the webhooks, as `GET` lists them */
                id: number;
                /** @description Id of one of the deliveries, as `GET` lists them */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    replyAsSandboxGuest: {
        parameters: {
            query?: never;
            header?: never;
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
                        /** @description The message as it was stored */
                        data: {
                            message: components["schemas"]["Message"];
                        };
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                        /** @description The scenarios */
                        data: components["schemas"]["SandboxScenario"][];
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    playSandboxScenario: {
        parameters: {
            query?: never;
            header?: never;
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
                        /** @description What was played */
                        data: {
                            played: components["schemas"]["SandboxScenarioPlayed"];
                        };
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    advanceSandboxClock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description How far the clock moves, in whole seconds; 400 days altogether at most */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                        /** @description The certifications of the key, newest first */
                        data: components["schemas"]["Certification"][];
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    startSandboxCertification: {
        parameters: {
            query?: never;
            header?: never;
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Id of one of the certifications, as `GET` lists them */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Id of one of the certifications, as `GET` lists them */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    uploadSandboxCertificationState: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of one of the certifications, as `GET` lists them */
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                /** @description Id of one of the certifications, as `GET` lists them */
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
                            /** @description A JWS (Ed25519, compact), valid for a year */
                            report: string;
                        };
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
    setSandboxFaults: {
        parameters: {
            query?: never;
            header?: never;
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
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
                        /** @description About the response */
                        meta: {
                            /** @description Id of the request, for questions to support */
                            request_id?: string;
                            /**
                             * @description Present and true in the sandbox
                             * @constant
                             */
                            sandbox?: true;
                        };
                    };
                };
            };
        };
    };
}
