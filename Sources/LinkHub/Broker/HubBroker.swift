import IoTCore
import IoTLink

/// The MQTT broker between the hub and its principals: it lets in whom the hub has given a credential, ties each to its
/// own topics, and carries their messages.
protocol HubBroker: Sendable {
    /// Where principals connect.
    var endpoint: LinkEndpoint { get }
    /// Where principals of this very process connect, whatever `endpoint` is.
    var localEndpoint: LinkEndpoint { get }
    /// Where principals on other machines connect; `nil` when they cannot.
    var tlsEndpoint: LinkEndpoint? { get }
    /// SHA-256 of the DER of the certificate that those trust: 32 bytes.
    var authorityFingerprint: [UInt8]? { get }
    /// The certificate and the key (PEM files) of its TLS listener, when they are on this machine.
    var certificateFiles: (certificate: String, key: String)? { get }
    var status: BrokerStatus { get }

    /// Carries messages until it is cancelled. Called once.
    func run(_ handlers: BrokerHandlers) async throws

    /// Sends messages, and changes who may connect, in this order, without blocking. While there is no connection
    /// messages are dropped, and credentials are not: the broker learns of them when it is back.
    func send(_ outputs: [HubOutput])

    /// Returns when what was sent of this credential is in effect, at once while the broker does not run, or when the
    /// waiting task is cancelled.
    func waitUntilConfirmed(_ tokenID: String) async
}

/// What a broker asks and tells the hub.
struct BrokerHandlers: Sendable {
    /// Gives every credential there is. `taken` is called when the list is made: what changes after that is sent.
    var credentials: @Sendable (_ taken: @escaping @Sendable () -> Void) async throws(IoTError) -> [BrokerCredential]
    var onMessage: @Sendable (UplinkMessage) -> Void
    /// Called each time the hub hears its principals.
    var onReady: @Sendable () -> Void
    /// Called each time it no longer does.
    var onLost: @Sendable () -> Void
}

struct BrokerStatus: Sendable {
    /// The broker's process id, while it runs as a child of this one.
    var processIdentifier: Int32?
    /// How often it was started.
    var starts = 0
    /// Why there is none.
    var failure: IoTError?
}
