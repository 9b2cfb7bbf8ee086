import IoTCore
import IoTLink
import Logging
import Synchronization

/// The hub's own client of its broker. It reads every up topic, and writes the down topics and the control topic.
final class HubConnection: Sendable {
    private let endpoint: LinkEndpoint
    private let password: String
    private let credentials: CredentialSync
    private let logger: Logger
    private let current = Mutex<MQTTConnection?>(nil)

    init(endpoint: LinkEndpoint, password: String, credentials: CredentialSync, logger: Logger) {
        self.endpoint = endpoint
        self.password = password
        self.credentials = credentials
        self.logger = logger
    }

    /// Stays connected until it is cancelled.
    ///
    /// - Parameters:
    ///   - listening: Yields when a broker accepts connections.
    ///   - onMessage: Called with each message of a principal.
    ///   - onReady: Called each time the hub starts to receive messages.
    ///   - onLost: Called each time it stops receiving them.
    func run(
        listening: AsyncStream<Void>, onMessage: @escaping @Sendable (UplinkMessage) -> Void,
        onReady: @Sendable () -> Void, onLost: @Sendable () -> Void
    ) async {
        var signals = listening.makeAsyncIterator()
        _ = await signals.next()
        var pause = Duration.milliseconds(5)
        while !Task.isCancelled {
            let wasReady = await runOnce(onMessage, onReady: onReady)
            if wasReady {
                onLost()
                pause = .milliseconds(5)
            }
            guard !Task.isCancelled else { break }
            try? await Task.sleep(for: pause)
            pause = min(.milliseconds(500), pause * 2)
        }
    }

    private func runOnce(
        _ onMessage: @escaping @Sendable (UplinkMessage) -> Void, onReady: @Sendable () -> Void
    ) async -> Bool {
        // Four events at most, because messages are not among them.
        let (events, feed) = AsyncStream.makeStream(of: MQTTEvent.self, bufferingPolicy: .bufferingNewest(8))
        var configuration = MQTTConfiguration(
            endpoint: endpoint, clientID: "hub-" + RequestID.random(),
            credentials: MQTTCredentials(userName: DynamicSecurity.hubUserName, password: password))
        configuration.waitingMessages = 65_536
        configuration.waitingBytes = 64 << 20
        let connection = MQTTConnection(configuration: configuration) { [self] event in
            if case .message(let message) = event { receive(message, onMessage) } else { feed.yield(event) }
        }
        connection.connect()
        var isReady = false
        var granted = 0
        await withTaskCancellationHandler {
            for await event in events {
                switch event {
                case .connected:
                    try? connection.subscribe(LinkAddress.upFilter)
                    try? connection.subscribe(DynamicSecurity.responseTopic)
                case .subscribed(_, let isGranted):
                    granted += isGranted ? 1 : 0
                    guard granted == 2 else { continue }
                    isReady = true
                    current.withLock { $0 = connection }
                    for message in credentials.unconfirmed { publishControl(message) }
                    onReady()
                case .message: break
                case .ended(let end):
                    current.withLock { $0 = nil }
                    if case .lost(let error) = end, isReady {
                        logger.warning("the hub lost its broker", metadata: ["error": "\(error)"])
                    }
                    return
                }
            }
        } onCancel: {
            connection.disconnect()
        }
        current.withLock { $0 = nil }
        return isReady
    }

    /// Drops messages while there is no connection: their receivers are not connected either, and repeat their
    /// requests.
    func send(_ outputs: [HubOutput]) {
        let connection = current.withLock { $0 }
        for output in outputs {
            switch output {
            case .message(let address, let payload):
                publish(MQTTMessage(topic: address.downTopic, payload: payload), to: connection)
            case .addCredential(let credential, let token):
                if let message = credentials.add(credential, token: token) { publishControl(message) }
            case .removeCredential(let tokenID):
                if let message = credentials.remove(tokenID: tokenID) { publishControl(message) }
            }
        }
    }

    private func publishControl(_ message: JSONValue) {
        let bytes = message.jsonBytes
        publish(MQTTMessage(topic: DynamicSecurity.controlTopic, payload: bytes), to: current.withLock { $0 })
    }

    private func publish(_ message: MQTTMessage, to connection: MQTTConnection?) {
        do {
            try connection?.publish(message)
        } catch {
            logger.debug("a message to the broker was dropped", metadata: ["error": "\(error)"])
        }
    }

    private func receive(_ message: MQTTMessage, _ onMessage: (UplinkMessage) -> Void) {
        if message.topic == DynamicSecurity.responseTopic {
            if let response = try? JSONValue(parsing: message.payload) { credentials.confirm(response) }
        } else if let (address, direction) = LinkAddress.parse(topic: message.topic), direction == .up {
            onMessage(UplinkMessage(address: address, payload: message.payload))
        }
    }
}
