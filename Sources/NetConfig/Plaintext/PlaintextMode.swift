import IoTCore
import NIOCore

/// Shares the core of a plaintext device between its socket and the tasks that carry out its steps.
actor PlaintextMode: JoiningMode {
    private var core: PlaintextDevice
    private let interfaces: @Sendable () -> [LANInterface]
    private let steps: AsyncStream<DeviceJoining.Step>.Continuation
    private var links: [LANInterface] = []
    private var linksReadAt = NIODeadline.distantPast

    init(
        _ core: PlaintextDevice, interfaces: @escaping @Sendable () -> [LANInterface],
        steps: AsyncStream<DeviceJoining.Step>.Continuation
    ) {
        self.core = core
        self.interfaces = interfaces
        self.steps = steps
    }

    /// Passes on the first steps of the core.
    func start() {
        pump()
    }

    /// - Returns: the answer; `nil` for none.
    func receive(_ datagram: [UInt8], from source: IPAddress) -> [UInt8]? {
        let now = NIODeadline.now()
        // The interfaces are read at most once a second, independent of the number of datagrams.
        if now >= linksReadAt + .seconds(1) {
            links = interfaces()
            linksReadAt = now
        }
        let reply = core.receive(datagram, isOnLink: links.contains { $0.isOnLink(source) }, at: now)
        pump()
        return reply
    }

    func applied(_ outcome: WiFiOutcome) {
        core.joining.applied(outcome, at: .now())
        pump()
    }

    func bound(_ result: Result<String?, IoTError>) {
        core.joining.bound(result, at: .now())
        pump()
    }

    func timeout() {
        core.joining.timeout(at: .now())
        pump()
    }

    private func pump() {
        for step in core.joining.takeSteps() { steps.yield(step) }
    }
}
