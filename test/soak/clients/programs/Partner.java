import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.ProtocolException;
import java.net.URI;
import java.net.URL;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;

/** The steps of both Java clients: `java Partner.java HttpClient` or `java Partner.java HttpURLConnection`. */
public class Partner {
    record Answer(int status, Map<String, String> headers, String text) {
        String field(String name) {
            Matcher matcher = Pattern.compile("\"" + name + "\":\"?([^\",}]+)").matcher(text);
            String found = "absent";
            while (matcher.find()) found = matcher.group(1);
            return found;
        }

        String replayed() {
            return headers.getOrDefault("Idempotent-Replayed", "new");
        }
    }

    interface Transport {
        Answer send(String method, String url, Map<String, String> headers, String body) throws Exception;
    }

    static final HttpClient client = HttpClient.newHttpClient();

    static Answer withHttpClient(String method, String url, Map<String, String> headers, String body)
            throws Exception {
        var publisher = body == null
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofString(body, UTF_8);
        var request = HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(60));
        headers.forEach(request::header);
        var answer = client.send(request.method(method, publisher).build(), BodyHandlers.ofString(UTF_8));
        Map<String, String> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        answer.headers().map().forEach((name, values) -> fields.put(name, values.get(0)));
        return new Answer(answer.statusCode(), fields, answer.body());
    }

    static Answer withHttpUrlConnection(String method, String url, Map<String, String> headers, String body)
            throws Exception {
        var connection = (HttpURLConnection) new URL(url).openConnection();
        connection.setRequestMethod(method);
        connection.setReadTimeout(60_000);
        headers.forEach(connection::setRequestProperty);
        if (body != null) {
            connection.setDoOutput(true);
            connection.getOutputStream().write(body.getBytes(UTF_8));
        }
        int status = connection.getResponseCode();
        InputStream stream = status < 400 ? connection.getInputStream() : connection.getErrorStream();
        String text = stream == null ? "" : new String(stream.readAllBytes(), UTF_8);
        Map<String, String> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        connection.getHeaderFields().forEach((name, values) -> {
            if (name != null) fields.put(name, values.get(0));
        });
        return new Answer(status, fields, text);
    }

    static Transport transport;

    static Answer ask(String method, String path, String body, String... more) throws Exception {
        Map<String, String> headers = new TreeMap<>();
        headers.put("X-API-Key", System.getenv("PARTNER_API_KEY"));
        headers.put("Content-Type", "application/json");
        for (int i = 0; i < more.length; i += 2) headers.put(more[i], more[i + 1]);
        return transport.send(method, System.getenv("PARTNER_BASE_URL") + "/sandbox" + path, headers, body);
    }

    static void tell(Object... words) {
        var line = String.join("\t", List.of(words).stream().map(String::valueOf).toList()) + "\n";
        System.out.writeBytes(line.getBytes(UTF_8));
    }

    public static void main(String[] arguments) throws Exception {
        transport = arguments[0].equals("HttpClient") ? Partner::withHttpClient : Partner::withHttpUrlConnection;
        var user = ask("POST", "/users",
                "{\"email\":\"lucja@example.com\",\"first_name\":\"Łucja\",\"last_name\":\"Puig\"}",
                "Idempotency-Key", "guest-1");
        tell("user", user.status, user.field("first_name"));
        var stay = """
                {"user_id":%s,"listing_id":2001,"room_type_id":3001,
                 "checkin_at":"2029-01-01","checkout_at":"2029-02-01"}""".formatted(user.field("user_id"));
        var first = ask("POST", "/bookings", stay, "Idempotency-Key", "order-1");
        tell("booking", first.status, first.replayed());
        var again = ask("POST", "/bookings", stay, "Idempotency-Key", "order-1");
        tell("repeat", again.status, again.replayed());
        tell("same", first.text.equals(again.text) ? "True" : "False");
        try {
            var patched = ask("PATCH", "/listings/2001", "{\"name\":\"Łódź\"}");
            var read = ask("GET", "/listings/2001", null);
            tell("patch", patched.status, read.text.contains("\"name\":\"Łódź\"") ? "Łódź" : "absent");
        } catch (ProtocolException error) {
            tell("patch", error.getMessage());
        }
        var feed = "/integrations/provider_one/bookings";
        var page = ask("GET", feed, null);
        var query = "?wait=2&updated_after=" + URLEncoder.encode(page.field("version"), UTF_8);
        var begun = System.nanoTime();
        var polled = ask("GET", feed + query, null);
        var held = System.nanoTime() - begun >= 2_000_000_000L ? "held" : "early";
        tell("poll", polled.status, polled.text.contains("\"Bookings\":[]") ? 0 : "some", held);
        var invalid = ask("POST", "/users", "{}");
        var path = Pattern.compile("\"path\":\"(\\w+)\"").matcher(invalid.text);
        tell("invalid", invalid.status, path.find() ? path.group(1) : "absent");
        tell("unchanged", ask("GET", feed, null, "If-None-Match", page.headers.get("ETag")).status);
    }
}
