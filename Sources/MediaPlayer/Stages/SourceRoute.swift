/// How a source's media come over the network: the kinds of the two candidates that ICE selected.
package struct SourceRoute: Sendable, Hashable {
    /// `host`, `srflx`, `prflx` or `relay`.
    package var local: String
    package var remote: String

    package init(local: String, remote: String) {
        self.local = local
        self.remote = remote
    }

    /// `relay` if one end uses a relay, `srflx` if the path goes through an address translation, otherwise `host`.
    package var name: String {
        let kinds = [local, remote]
        if kinds.contains("relay") { return "relay" }
        return kinds.allSatisfy { $0 == "host" } ? "host" : "srflx"
    }
}
