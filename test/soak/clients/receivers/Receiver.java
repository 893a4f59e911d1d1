import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

/** The guide's sample lies beside this file. */
public class Receiver {
    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(System.getenv("PORT"));
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", exchange -> {
            int status = 500;
            try {
                byte[] body = exchange.getRequestBody().readNBytes(65536);
                var headers = exchange.getRequestHeaders();
                status = Hint.verify(headers::getFirst, body, System.getenv("WEBHOOK_SECRET")) ? 204 : 401;
            } catch (Exception error) {
                error.printStackTrace();
            }
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();
    }
}
