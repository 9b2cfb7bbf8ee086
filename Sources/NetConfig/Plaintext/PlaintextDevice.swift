import IoTCore
import NIOCore

/// A device that takes its network by the plaintext scheme. Owns no socket, clock, task or logger.
///
/// Nobody proves anything here: whoever is on the link can send a request, and read one. What the device answers is
/// never longer than what it was asked, and a request that came before changes nothing while it counts.
struct PlaintextDevice: Sendable {
    struct Configuration: Sendable {
        var identity: DeviceIdentity
        var productID: String
        /// Where a token without a region is for; `nil` takes such a token not at all.
        var hub: String?
        var lifetime: TimeAmount
        /// Whether a hub and a token are taken.
        var binds: Bool
    }

    /// A client sends one request for 10 s. After this, the same request is a new attempt of its user.
    private static let retryTime = TimeAmount.seconds(15)
    /// Of all clients.
    static let repliesPerSecond = 16

    private let configuration: Configuration
    var joining: DeviceJoining
    private var request: PlaintextRequest?
    private var takenAt = NIODeadline.distantPast
    private var second = NIODeadline.distantPast
    private var replies = 0

    init(_ configuration: Configuration, at now: NIODeadline) {
        self.configuration = configuration
        joining = DeviceJoining(lifetime: configuration.lifetime, at: now)
    }

    /// - Returns: the answer, if there is one; it is not longer than the datagram.
    mutating func receive(_ datagram: [UInt8], isOnLink: Bool, at now: NIODeadline) -> [UInt8]? {
        guard isOnLink, !joining.isEnded, datagram.count <= PlaintextRequest.largest, mayReply(at: now) else {
            return nil
        }
        return answer(datagram, at: now).bytes(fitting: datagram.count)
    }

    private mutating func mayReply(at now: NIODeadline) -> Bool {
        if now >= second + .seconds(1) {
            second = now
            replies = 0
        }
        guard replies < Self.repliesPerSecond else { return false }
        replies += 1
        return true
    }

    private mutating func answer(_ datagram: [UInt8], at now: NIODeadline) -> PlaintextReply {
        do throws(IoTError) {
            let new = try PlaintextRequest(parsing: datagram)
            let order = try order(new)
            switch joining.station {
            case .idle:
                take(new, order, at: now)
                return accepted
            case .joining:
                return new == request ? accepted : .currentError("another network is being joined")
            case .connected:
                return afterJoining(new, order, at: now)
            case .failed(let outcome):
                let words = Self.words(outcome)
                guard new != request || now >= takenAt + Self.retryTime else { return .currentError(words) }
                take(new, order, at: now)
                return .previousError(words)
            }
        } catch {
            return .currentError("\(error.code.rawValue) \(error.code.name): \(error.message)")
        }
    }

    /// In its network: only a token may still be missing.
    private mutating func afterJoining(
        _ new: PlaintextRequest, _ order: BindOrder?, at now: NIODeadline
    ) -> PlaintextReply {
        guard new.credentials == request?.credentials else { return .currentError("the device is in a network") }
        guard case .failed(let code, _) = joining.bindState else {
            guard new == request else { return .currentError("the device has another token") }
            if case .bound = joining.bindState { joining.outcomeRead(at: now) }
            return accepted
        }
        let words = "\(code.rawValue) \(code.name)"
        guard let order, new != request || now >= takenAt + Self.retryTime else { return .currentError(words) }
        request = new
        takenAt = now
        joining.take(order)
        return .previousError(words)
    }

    private mutating func take(_ new: PlaintextRequest, _ order: BindOrder?, at now: NIODeadline) {
        request = new
        takenAt = now
        if let order { joining.take(order) }
        joining.apply(new.credentials)
    }

    private func order(_ request: PlaintextRequest) throws(IoTError) -> BindOrder? {
        guard configuration.binds, !request.token.isEmpty else { return nil }
        let isHub = request.region?.hasPrefix("iotlink://") == true
        guard let hub = isHub ? request.region : configuration.hub else {
            throw IoTError(.provisioningRefused, "the token is for no hub that the device knows")
        }
        return try BindOrder(hub: hub, token: request.token)
    }

    private var accepted: PlaintextReply {
        .accepted(productID: configuration.productID, deviceName: configuration.identity.id)
    }

    /// The number comes first, by which a client of ours knows it.
    private static func words(_ outcome: WiFiOutcome) -> String {
        let code: ErrorCode =
            switch outcome {
            case .wrongPassword: .wifiPasswordWrong
            case .networkNotFound: .wifiNetworkNotFound
            case .failed, .connected: .wifiFailed
            }
        return "\(code.rawValue) \(code.name)"
    }
}
