import json, os, time, urllib.error, urllib.parse, urllib.request

base = os.environ['PARTNER_BASE_URL'] + '/sandbox'

def send(method, path, body=None, **more):
    headers = {'X-API-Key': os.environ['PARTNER_API_KEY'], 'Content-Type': 'application/json'}
    headers |= {name.replace('_', '-'): value for name, value in more.items()}
    data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
    request = urllib.request.Request(base + path, data, headers, method=method)
    try:
        answer = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        answer = error
    text = answer.read()
    return answer.status, answer.headers, json.loads(text) if text else None

def tell(*words):
    print(*words, sep='\t')

user = {'email': 'lucja@example.com', 'first_name': 'Łucja', 'last_name': 'Puig'}
status, _, answer = send('POST', '/users', user, Idempotency_Key='guest-1')
tell('user', status, answer['data']['first_name'])
stay = {'user_id': answer['data']['user_id'], 'listing_id': 2001, 'room_type_id': 3001,
        'checkin_at': '2029-01-01', 'checkout_at': '2029-02-01'}
status, headers, first = send('POST', '/bookings', stay, Idempotency_Key='order-1')
tell('booking', status, headers.get('Idempotent-Replayed', 'new'))
status, headers, again = send('POST', '/bookings', stay, Idempotency_Key='order-1')
tell('repeat', status, headers.get('Idempotent-Replayed', 'new'))
tell('same', first == again)
status, _, _ = send('PATCH', '/listings/2001', {'name': 'Łódź'})
_, _, answer = send('GET', '/listings/2001')
tell('patch', status, answer['data']['name'])
feed = '/integrations/provider_one/bookings'
status, headers, page = send('GET', feed)
version = page['data']['Bookings'][-1]['version']
begun = time.monotonic()
status, _, page = send('GET', feed + '?' + urllib.parse.urlencode({'updated_after': version, 'wait': 2}))
tell('poll', status, len(page['data']['Bookings']), 'held' if time.monotonic() - begun >= 2 else 'early')
status, _, answer = send('POST', '/users', {})
tell('invalid', status, answer['error']['errors'][0]['path'])
status, _, answer = send('GET', feed, If_None_Match=headers['ETag'])
tell('unchanged', status)
