import IoTCore
import NIOCore

/// A device that receives its network by the plaintext scheme. Owns no socket, clock, task or logger.
///
/// The scheme has no authentication and no encryption: any machine on the link can send and read requests. So that the
/// device cannot be used to amplify an attack, an answer is never longer than its request. A repetition of the current
/// request changes nothing.
struct PlaintextDevice: Sendable {
    struct Configuration: Sendable {
        var identity: DeviceIdentity
        var productID: String
        /// The hub for a token without a region. If `nil`, such a token is refused.
        var hub: String?
        var lifetime: TimeAmount
        /// Whether a hub and a token are accepted.
        var binds: Bool
        /// Throws if the device cannot use the hub or the token, which it then refuses before it joins the network.
        var check: PlaintextProvisioning.OrderCheck = { _ in }
    }

    /// A client repeats a request for 10 s. After this time, the same request counts as a new attempt of the user.
    private static let retryTime = TimeAmount.seconds(15)
    /// A client repeats a request for 10 s, and then does not ask for the outcome. The camera comes online after the mode.
    private static let repetitionTime = TimeAmount.seconds(10)
    /// For all clients together.
    static let repliesPerSecond = 16

    private let configuration: Configuration
    var joining: DeviceJoining
    private var request: PlaintextRequest?
    private var takenAt = NIODeadline.distantPast
    private var second = NIODeadline.distantPast
    private var replies = 0

    init(_ configuration: Configuration, at now: NIODeadline) {
        self.configuration = configuration
        joining = DeviceJoining(lifetime: configuration.lifetime, boundTime: Self.repetitionTime, at: now)
    }

    /// - Returns: the answer, which is not longer than the datagram; `nil` for none.
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
                begin(new, order, at: now)
                return accepted
            case .joining:
                return new == request ? accepted : .currentError("the device is joining another network")
            case .connected:
                return afterJoining(new, order, at: now)
            case .failed(let outcome):
                let words = Self.words(outcome)
                guard mayRetry(new, at: now) else { return .currentError(words) }
                begin(new, order, at: now)
                return .previousError(words)
            }
        } catch {
            return .currentError("\(error.code.rawValue) \(error.code.name): \(error.message)")
        }
    }

    /// The device is in its network. It accepts only a token, if it has none or its binding has failed.
    private mutating func afterJoining(
        _ new: PlaintextRequest, _ order: BindOrder?, at now: NIODeadline
    ) -> PlaintextReply {
        guard new.credentials == request?.credentials else {
            return .currentError("the device is already in a network")
        }
        if joining.bindState == .unbound, let order, !joining.isLate(at: now) {
            take(new, order, at: now)
            return accepted
        }
        guard case .failed(let code, _) = joining.bindState else {
            guard new == request else { return .currentError("the device has already received another token") }
            if case .bound = joining.bindState { joining.outcomeRead(at: now) }
            return accepted
        }
        let words = "\(code.rawValue) \(code.name)"
        guard let order, mayRetry(new, at: now) else { return .currentError(words) }
        take(new, order, at: now)
        return .previousError(words)
    }

    private func mayRetry(_ new: PlaintextRequest, at now: NIODeadline) -> Bool {
        !joining.isLate(at: now) && (new != request || now >= takenAt + Self.retryTime)
    }

    private mutating func take(_ new: PlaintextRequest, _ order: BindOrder, at now: NIODeadline) {
        request = new
        takenAt = now
        joining.take(order, at: now)
    }

    private mutating func begin(_ new: PlaintextRequest, _ order: BindOrder?, at now: NIODeadline) {
        request = new
        takenAt = now
        joining.apply(new.credentials, order, at: now)
    }

    private func order(_ request: PlaintextRequest) throws(IoTError) -> BindOrder? {
        guard configuration.binds, !request.token.isEmpty else { return nil }
        let isHub = request.region?.hasPrefix("iotlink://") == true
        guard let hub = isHub ? request.region : configuration.hub else {
            throw IoTError(.provisioningRefused, "the request has no hub for the token, and the device knows none")
        }
        let order = try BindOrder(hub: hub, token: request.token)
        try configuration.check(order)
        return order
    }

    private var accepted: PlaintextReply {
        .accepted(productID: configuration.productID, deviceName: configuration.identity.id)
    }

    /// The error as a client of ours parses it: the number first.
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
