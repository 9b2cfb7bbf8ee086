import IoTCore

/// Used by other targets.
public enum ServiceAddress {
    /// The host of an `http`, `https` or `rtsp` URL, in `IPAddress`'s form; `nil` for anything else.
    public static func host(of url: String) -> String? {
        // A displayed source URL contains "…" in place of its login.
        ServiceURL(url.replacing("…", with: ""))?.host
    }
}
