import IoTCore
import NIOCore

/// A client of the plaintext scheme. It sends its request every 2 s, at most 5 times, until the device answers. Owns no
/// socket, clock, task or logger.
struct PlaintextClient: Sendable {
    enum Output: Sendable {
        case send([UInt8])
        case progress(ProvisioningProgress)
        case finished(Result<ProvisioningOutcome, IoTError>)
        case timeout(NIODeadline)
    }

    private static let interval = TimeAmount.seconds(2)
    private static let attempts = 5

    private let request: PlaintextRequest
    private let binds: Bool
    private var outputs: [Output] = []
    private var sent = 0
    private var due = NIODeadline.distantFuture
    private var hasAnswered = false
    private var isFinished = false

    init(_ network: WiFiCredentials, bind: BindOrder?) {
        request = PlaintextRequest(credentials: network, token: bind?.token ?? "", region: bind?.hub)
        binds = bind != nil
    }

    mutating func start(at now: NIODeadline) {
        let size = request.bytes.count
        guard size <= PlaintextRequest.largest else {
            return finish(
                .failure(
                    IoTError(
                        .payloadTooLarge,
                        "the request has \(size) bytes; the plaintext scheme allows \(PlaintextRequest.largest)")))
        }
        send(at: now)
    }

    mutating func poll() -> Output? {
        outputs.isEmpty ? nil : outputs.removeFirst()
    }

    mutating func receive(_ datagram: [UInt8], at now: NIODeadline) {
        guard !isFinished, let reply = PlaintextReply(parsing: datagram) else { return }
        hasAnswered = true
        switch reply {
        case .accepted(_, let name):
            var outcome = ProvisioningOutcome()
            outcome.device = DeviceIdentity(id: name)
            outcome.bind = binds ? .waiting : .unbound
            finish(.success(outcome))
        case .currentError(let log): finish(.failure(failure(log)))
        // The device has accepted this request, and accepts a repetition with `accepted`.
        case .previousError(let log):
            outputs.append(.progress(.retrying(reason: "its previous attempt failed: \(clean(log))")))
        }
    }

    mutating func timeout(at now: NIODeadline) {
        guard !isFinished else { return }
        guard now >= due else { return outputs.append(.timeout(due)) }
        guard sent < Self.attempts else {
            return finish(
                .failure(
                    hasAnswered
                        ? IoTError(.provisioningVanished)
                        : IoTError(
                            .provisioningUnreachable, "no device there answers by the plaintext scheme",
                            remedy: "join the camera's own network first; omit --plaintext if the camera supports the "
                                + "encrypted scheme")))
        }
        send(at: now)
    }

    private mutating func send(at now: NIODeadline) {
        sent += 1
        due = now + Self.interval
        outputs.append(.send(request.bytes))
        outputs.append(.timeout(due))
    }

    private mutating func finish(_ result: Result<ProvisioningOutcome, IoTError>) {
        isFinished = true
        outputs.append(.finished(result))
    }

    /// The device's error. If its log begins with a number of our catalogue, the error with that number.
    private func failure(_ log: String) -> IoTError {
        let text = clean(log)
        let code = Int(text.prefix { $0.isASCII && $0.isNumber }).map(ErrorCode.init(rawValue:))
        if let code, ErrorCatalogue.entry(code) != nil { return IoTError(code) }
        return IoTError(.provisioningRefused, "the device refuses the request" + (text.isEmpty ? "" : ": \(text)"))
    }

    /// The log without secrets: a device may repeat what it received.
    private func clean(_ log: String) -> String {
        let secrets = [request.credentials.password, request.token].filter { !$0.isEmpty }
        return secrets.contains { log.contains($0) } ? "" : log
    }
}
