package import MediaChannel
package import PeerTransport

/// Calls of browsers, whose media do not pass here. They belong to the account that made them; for others there are
/// none.
package protocol GatewayCalls: Sendable {
    /// What helps a browser that may view the device to find the way to it, before it has called.
    func iceServers(_ device: String) async throws -> [ICEServer]
    /// Calls a camera with a browser's offer.
    func open(_ device: String, offer: String) async throws -> RelayedCalls.Answer
    /// - Parameters:
    ///   - iceUfrag: whose candidates they are, where the browser said so.
    ///   - candidates: as `candidate:…`; an empty one ends them.
    func trickle(_ id: String, iceUfrag: String?, candidates: [String]) async throws
    func close(_ id: String) async throws
}
