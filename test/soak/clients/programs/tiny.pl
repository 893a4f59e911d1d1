use strict;
use warnings;
use utf8;
use HTTP::Tiny;
use JSON::PP;
use Time::HiRes 'time';

binmode STDOUT, ':encoding(UTF-8)';
my $json = JSON::PP->new->utf8->canonical;
my $http = HTTP::Tiny->new(timeout => 60);

sub ask {
    my ($method, $path, $body, %more) = @_;
    my %headers = ('X-API-Key' => $ENV{PARTNER_API_KEY}, 'Content-Type' => 'application/json', %more);
    my %options = (headers => \%headers);
    $options{content} = $json->encode($body) if $body;
    my $answer = $http->request($method, "$ENV{PARTNER_BASE_URL}/sandbox$path", \%options);
    my $text = $answer->{content} // '';
    return ($answer->{status}, $answer->{headers}, $text eq '' ? undef : $json->decode($text));
}

sub say_line { print join("\t", @_), "\n" }

my $user = { email => 'lucja@example.com', first_name => 'Łucja', last_name => 'Puig' };
my ($status, $headers, $answer) = ask('POST', '/users', $user, 'Idempotency-Key' => 'guest-1');
say_line('user', $status, $answer->{data}{first_name});
my $stay = { user_id => $answer->{data}{user_id}, listing_id => 2001, room_type_id => 3001,
    checkin_at => '2029-01-01', checkout_at => '2029-02-01' };
($status, $headers, my $first) = ask('POST', '/bookings', $stay, 'Idempotency-Key' => 'order-1');
say_line('booking', $status, $headers->{'idempotent-replayed'} // 'new');
($status, $headers, my $again) = ask('POST', '/bookings', $stay, 'Idempotency-Key' => 'order-1');
say_line('repeat', $status, $headers->{'idempotent-replayed'} // 'new');
say_line('same', $json->encode($first) eq $json->encode($again) ? 'True' : 'False');
($status) = ask('PATCH', '/listings/2001', { name => 'Łódź' });
(undef, undef, $answer) = ask('GET', '/listings/2001');
say_line('patch', $status, $answer->{data}{name});
my $feed = '/integrations/provider_one/bookings';
($status, $headers, my $page) = ask('GET', $feed);
my $query = $http->www_form_urlencode({ updated_after => $page->{data}{Bookings}[-1]{version}, wait => 2 });
my $begun = time;
($status, undef, $page) = ask('GET', "$feed?$query");
say_line('poll', $status, scalar @{ $page->{data}{Bookings} }, time - $begun >= 2 ? 'held' : 'early');
($status, undef, $answer) = ask('POST', '/users', {});
say_line('invalid', $status, $answer->{error}{errors}[0]{path});
($status) = ask('GET', $feed, undef, 'If-None-Match' => $headers->{etag});
say_line('unchanged', $status);
