import IoTCore
import IoTLink

/// The MQTT broker between the hub and its principals. It admits clients with a credential from the hub, limits each
/// one to its own topics, and carries their messages.
protocol HubBroker: Sendable {
    /// Where principals connect.
    var endpoint: LinkEndpoint { get }
    /// Where principals in this process connect, whatever `endpoint` is.
    var localEndpoint: LinkEndpoint { get }
    /// Where principals on other machines connect; `nil` when they cannot.
    var tlsEndpoint: LinkEndpoint? { get }
    /// SHA-256 of the DER of the certificate that clients on other machines trust: 32 bytes.
    var authorityFingerprint: [UInt8]? { get }
    /// The certificate and the key (PEM files) of its TLS listener, when they are on this machine.
    var certificateFiles: (certificate: String, key: String)? { get }
    var status: BrokerStatus { get }

    /// Carries messages until it is cancelled. Called once.
    func run(_ handlers: BrokerHandlers) async throws

    /// Sends messages and changes credentials, in this order, without blocking. While there is no connection, messages
    /// are dropped. Credential changes are kept and sent when the broker is back.
    func send(_ outputs: [HubOutput])

    /// Returns when the last change of this credential is in effect. Returns at once if the broker does not run or the
    /// waiting task is cancelled.
    func waitUntilConfirmed(_ tokenID: String) async
}

/// The hub's handlers for the broker's questions and events.
struct BrokerHandlers: Sendable {
    /// Returns all credentials. `taken` is called when the list is made: later changes are sent separately.
    var credentials: @Sendable (_ taken: @escaping @Sendable () -> Void) async throws(IoTError) -> [BrokerCredential]
    var onMessage: @Sendable (UplinkMessage) -> Void
    /// Called each time the hub starts to receive messages from its principals.
    var onReady: @Sendable () -> Void
    /// Called each time it stops receiving them.
    var onLost: @Sendable () -> Void
}

struct BrokerStatus: Sendable {
    /// The broker's process id, while it runs as a child of this one.
    var processIdentifier: Int32?
    /// How often it was started.
    var starts = 0
    /// Why no broker runs.
    var failure: IoTError?
}
