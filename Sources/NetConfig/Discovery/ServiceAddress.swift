import IoTCore

/// What other targets ask of a service's address.
public enum ServiceAddress {
    /// Of an `http`, `https` or `rtsp` URL, as an `IPAddress` writes it; `nil` for anything else.
    public static func host(of url: String) -> String? { ServiceURL(url)?.host }
}
