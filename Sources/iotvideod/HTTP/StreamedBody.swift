import HTTPTypes

/// Which requests have a body that is a live stream: its length and duration are not known, and it is read while it
/// comes.
enum StreamedBody {
    /// The last parts of the paths of these routes, whose method is POST.
    static let lastParts = ["talk", "stream"]

    static func belongs(to head: HTTPRequest) -> Bool {
        guard head.method == .post, let path = head.path?.prefix(while: { $0 != "?" }) else { return false }
        return lastParts.contains { path.hasSuffix("/" + $0) }
    }
}
