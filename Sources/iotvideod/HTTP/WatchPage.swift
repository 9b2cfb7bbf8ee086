import HTTPTypes
import Hummingbird
import IoTCore
import NIOCore

/// The page at `/` and `/watch/{device}`: docs/examples/watch.html, to which the link beside this file leads. It is the
/// same for whoever asks, of whatever device, so it tells a stranger nothing.
enum WatchPage {
    /// The page learns that its origin is the gateway's: it asks no other then, and may keep the token for the tab.
    ///
    /// Only the page's own script and style run, by a number used once (CSP level 3 §2.3.1), and requests go nowhere
    /// but here.
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

    static let html = String(decoding: PackageResources.watch_html, as: UTF8.self)
}
