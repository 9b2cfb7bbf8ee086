import EmbeddedFiles
import HTTPTypes
import Hummingbird
import IoTCore
import NIOCore

/// The page at `/` and `/watch/{device}`: docs/examples/watch.html. It is the same for every caller and device, so
/// it reveals nothing.
enum WatchPage {
    /// `data-served` marks the page as served by the gateway: it then needs no gateway address, and may keep the token
    /// for the tab.
    ///
    /// Only the page's own script and style run, by a nonce (CSP level 3 §2.3.1), and it can only send requests to this
    /// server.
    static var response: Response {
        let nonce = Hex.random(byteCount: 16)
        let text = html.replacing("<script>", with: "<script nonce=\"\(nonce)\">")
            .replacing("<style>", with: "<style nonce=\"\(nonce)\">")
            .replacing("<body>", with: "<body data-served>")
        let policy = [
            "default-src 'none'", "script-src 'nonce-\(nonce)'", "style-src 'nonce-\(nonce)'", "connect-src 'self'",
            "img-src data:", "media-src 'self' blob: mediastream:", "base-uri 'none'", "form-action 'none'",
            "frame-ancestors 'none'",
        ]
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=utf-8", .contentLength: String(text.utf8.count),
                .contentSecurityPolicy: policy.joined(separator: "; "),
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    static let html = String(decoding: embedded_watch_page().buffer, as: UTF8.self)
}
