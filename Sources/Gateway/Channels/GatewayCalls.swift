package import MediaChannel
package import PeerTransport

/// Calls of browsers, whose media do not pass through the gateway. They belong to the account that made them; other
/// accounts cannot see them.
package protocol GatewayCalls: Sendable {
    /// The ICE servers for a browser that may view the device, before it calls.
    func iceServers(_ device: String) async throws -> [ICEServer]
    /// Calls a camera with a browser's offer.
    func open(_ device: String, offer: String, definition: String?) async throws -> RelayedCalls.Answer
    /// - Parameters:
    /// - iceUfrag: the ICE session of the candidates, if the browser sent it.
    /// - candidates: as `candidate:…`; an empty one marks the end of candidates.
    func trickle(_ id: String, iceUfrag: String?, candidates: [String]) async throws
    func close(_ id: String) async throws
}
