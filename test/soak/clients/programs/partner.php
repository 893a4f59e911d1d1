<?php
// The steps of both PHP clients; `send` is the transport, which returns [status, headers in lower case, body].
function partner(callable $send): void
{
    $ask = function (string $method, string $path, ?array $body = null, array $more = []) use ($send): array {
        $headers = ['X-API-Key: ' . getenv('PARTNER_API_KEY'), 'Content-Type: application/json', ...$more];
        $text = $body === null ? null : json_encode((object) $body, JSON_UNESCAPED_UNICODE);
        [$status, $headers, $answer] = $send($method, getenv('PARTNER_BASE_URL') . '/sandbox' . $path, $headers, $text);
        return [$status, $headers, $answer === '' ? null : json_decode($answer, true, 64, JSON_THROW_ON_ERROR)];
    };
    $tell = function (...$words): void {
        echo implode("\t", $words), "\n";
    };

    $user = ['email' => 'lucja@example.com', 'first_name' => 'Łucja', 'last_name' => 'Puig'];
    [$status, , $answer] = $ask('POST', '/users', $user, ['Idempotency-Key: guest-1']);
    $tell('user', $status, $answer['data']['first_name']);
    $stay = ['user_id' => $answer['data']['user_id'], 'listing_id' => 2001, 'room_type_id' => 3001,
        'checkin_at' => '2029-01-01', 'checkout_at' => '2029-02-01'];
    [$status, $headers, $first] = $ask('POST', '/bookings', $stay, ['Idempotency-Key: order-1']);
    $tell('booking', $status, $headers['idempotent-replayed'] ?? 'new');
    [$status, $headers, $again] = $ask('POST', '/bookings', $stay, ['Idempotency-Key: order-1']);
    $tell('repeat', $status, $headers['idempotent-replayed'] ?? 'new');
    $tell('same', $first === $again ? 'True' : 'False');
    [$status] = $ask('PATCH', '/listings/2001', ['name' => 'Łódź']);
    [, , $answer] = $ask('GET', '/listings/2001');
    $tell('patch', $status, $answer['data']['name']);
    $feed = '/integrations/provider_one/bookings';
    [, $headers, $page] = $ask('GET', $feed);
    $version = end($page['data']['Bookings'])['version'];
    $begun = hrtime(true);
    [$status, , $page] = $ask('GET', $feed . '?' . http_build_query(['updated_after' => $version, 'wait' => 2]));
    $tell('poll', $status, count($page['data']['Bookings']), hrtime(true) - $begun >= 2e9 ? 'held' : 'early');
    [$status, , $answer] = $ask('POST', '/users', []);
    $tell('invalid', $status, $answer['error']['errors'][0]['path']);
    [$status] = $ask('GET', $feed, null, ['If-None-Match: ' . $headers['etag']]);
    $tell('unchanged', $status);
}
