package import IoTCore
package import MediaChannel
package import PeerTransport

/// Calls of browsers, whose media do not pass through the gateway. They belong to the account that made them; other
/// accounts cannot see them.
package protocol GatewayCalls: Sendable {
    /// The ICE servers for a browser that may view the device, before it calls.
    func iceServers(_ device: String) async throws -> [ICEServer]
    /// Calls a camera with a browser's offer.
    func open(_ device: String, _ wish: BrowserWish) async throws -> RelayedCalls.Answer
    /// - Parameters:
    /// - iceUfrag: the ICE session of the candidates, if the browser sent it.
    /// - candidates: as `candidate:…`; an empty one marks the end of candidates.
    func trickle(_ id: String, iceUfrag: String?, candidates: [String]) async throws
    func close(_ id: String) async throws
}

/// What a browser wants of a camera.
package struct BrowserWish: Sendable {
    /// The browser's session description.
    package var offer: String
    /// `monitor`, or `live` to show the camera a picture.
    package var kind: ChannelKind
    /// 0 for the camera, 1 for the caller of its live call.
    package var source: ChannelSource
    /// The wanted definitions, as in `WantedDefinition.list`.
    package var definition: String?

    package init(
        offer: String, kind: ChannelKind = .monitor, source: ChannelSource = .main, definition: String? = nil
    ) {
        self.offer = offer
        self.kind = kind
        self.source = source
        self.definition = definition
    }
}
