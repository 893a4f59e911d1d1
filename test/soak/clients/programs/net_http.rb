require 'json'
require 'net/http'

BASE = URI(ENV.fetch('PARTNER_BASE_URL') + '/sandbox')
HTTP = Net::HTTP.start(BASE.host, BASE.port, use_ssl: BASE.scheme == 'https', read_timeout: 60, max_retries: 0)

def ask(method, path, body = nil, more = {})
  headers = { 'X-API-Key' => ENV.fetch('PARTNER_API_KEY'), 'Content-Type' => 'application/json' }.merge(more)
  answer = HTTP.send_request(method, BASE.path + path, body && JSON.generate(body), headers)
  [answer.code, answer, answer.body.to_s.empty? ? nil : JSON.parse(answer.body)]
end

def tell(*words) = puts(words.join("\t"))

user = { email: 'lucja@example.com', first_name: 'Łucja', last_name: 'Puig' }
status, _, answer = ask('POST', '/users', user, 'Idempotency-Key' => 'guest-1')
tell('user', status, answer['data']['first_name'])
stay = { user_id: answer['data']['user_id'], listing_id: 2001, room_type_id: 3001,
         checkin_at: '2029-01-01', checkout_at: '2029-02-01' }
status, headers, first = ask('POST', '/bookings', stay, 'Idempotency-Key' => 'order-1')
tell('booking', status, headers['Idempotent-Replayed'] || 'new')
status, headers, again = ask('POST', '/bookings', stay, 'Idempotency-Key' => 'order-1')
tell('repeat', status, headers['Idempotent-Replayed'] || 'new')
tell('same', first == again ? 'True' : 'False')
status, = ask('PATCH', '/listings/2001', { name: 'Łódź' })
_, _, answer = ask('GET', '/listings/2001')
tell('patch', status, answer['data']['name'])
feed = '/integrations/provider_one/bookings'
_, headers, page = ask('GET', feed)
version = page['data']['Bookings'].last['version']
begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
status, _, page = ask('GET', "#{feed}?#{URI.encode_www_form(updated_after: version, wait: 2)}")
seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun
tell('poll', status, page['data']['Bookings'].size, seconds >= 2 ? 'held' : 'early')
status, _, answer = ask('POST', '/users', {})
tell('invalid', status, answer['error']['errors'][0]['path'])
status, = ask('GET', feed, nil, 'If-None-Match' => headers['ETag'])
tell('unchanged', status)
