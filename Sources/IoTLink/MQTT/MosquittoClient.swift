import CMosquitto
import COpenSSL
import Glibc
import IoTCore
import NIOCore

/// One libmosquitto client: connects, serves the socket with poll(2), and disconnects. Confined to its thread.
///
/// libmosquitto's own loop is not used: it calls select(2), which cannot watch descriptors from 1,024 up, and it
/// reconnects without jitter.
final class MosquittoClient {
    private let configuration: MQTTConfiguration
    private let onEvent: @Sendable (MQTTEvent) -> Void
    private var isConnected = false
    private var refusal: Int32 = 0
    private var unacknowledged = 0
    /// When commands were last sent.
    private var lastSent = NIODeadline.uptimeNanoseconds(0)
    private var subscriptions: [Int32: String] = [:]
    /// `nil` for a connection without TLS.
    private var verification: TLSVerification?
    /// Whether the TCP connection under TLS is established.
    private var isReachable = false

    /// How long disconnecting may take.
    private static let leaveTime = TimeAmount.seconds(1)
    /// How often libmosquitto checks its keep-alive.
    private static let housekeepingInterval = TimeAmount.seconds(1)
    /// While a message is not acknowledged, envelopes wait this long for others, to be sent as one message.
    private static let joiningTime = TimeAmount.milliseconds(1)

    init(configuration: MQTTConfiguration, onEvent: @escaping @Sendable (MQTTEvent) -> Void) {
        self.configuration = configuration
        self.onEvent = onEvent
    }

    func run(_ thread: MosquittoThread) -> MQTTEnd {
        let object = Unmanaged.passUnretained(self).toOpaque()
        guard let client = mosquitto_new(configuration.clientID, true, object) else {
            return lost("libmosquitto refused the client id: \(String(cString: strerror(errno)))")
        }
        defer { mosquitto_destroy(client) }
        // The callbacks hold `self` unretained: they run only inside the calls below.
        return withExtendedLifetime(self) { pump(client, thread) }
    }

    private func pump(_ client: OpaquePointer, _ thread: MosquittoThread) -> MQTTEnd {
        setCallbacks(client)
        do throws(IoTError) {
            try prepareTLS(client)
        } catch {
            return .lost(error)
        }
        var result = configure(client)
        guard result == MOSQ_ERR_SUCCESS.rawValue else { return ended(result, client) }
        result = connect(client)
        guard result == MOSQ_ERR_SUCCESS.rawValue else { return ended(result, client) }

        let wakeup = thread.wakeup
        var leaveBy: NIODeadline?
        var housekeeping = NIODeadline.now() + Self.housekeepingInterval
        while true {
            if leaveBy == nil, thread.isDisconnecting {
                guard isConnected else { return .disconnected }
                leaveBy = NIODeadline.now() + Self.leaveTime
            }
            let joiningEnd = leaveBy == nil ? joiningEnd(thread) : nil
            if isConnected, joiningEnd == nil, unacknowledged < configuration.unacknowledgedMessages {
                result = send(thread.takeCommands(configuration.unacknowledgedMessages - unacknowledged), client)
            }
            if let leaveBy, unacknowledged == 0 || NIODeadline.now() >= leaveBy {
                let lostCount = unacknowledged
                leave(client, by: leaveBy)
                return lostCount == 0 ? .disconnected : lost("\(lostCount) messages were not acknowledged")
            }
            let socket = mosquitto_socket(client)
            guard result == MOSQ_ERR_SUCCESS.rawValue, socket >= 0 else { break }

            var descriptors = [
                pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0),
                pollfd(fd: socket, events: events(client), revents: 0),
            ]
            let wait = min(housekeeping, leaveBy ?? .distantFuture, joiningEnd ?? .distantFuture) - NIODeadline.now()
            poll(&descriptors, 2, Int32(clamping: max(wait, .zero).nanoseconds / 1_000_000 + 1))

            if descriptors[0].revents != 0 { cmosquitto_wakeup_clear(wakeup) }
            var ready = Int32(descriptors[1].revents)
            if isShakingHands(client) {
                if ready & (POLLERR | POLLHUP) != 0, let end = brokenConnection(socket) { return end }
                // libmosquitto continues the handshake in its read function.
                if ready & POLLOUT != 0 {
                    isReachable = true
                    ready = ready & ~POLLOUT | POLLIN
                }
            }
            if ready & POLLOUT != 0 { result = mosquitto_loop_write(client, 1) }
            if result == MOSQ_ERR_SUCCESS.rawValue, ready & (POLLIN | POLLHUP | POLLERR) != 0 {
                result = mosquitto_loop_read(client, 1)
            }
            if result == MOSQ_ERR_SUCCESS.rawValue, NIODeadline.now() >= housekeeping {
                housekeeping = NIODeadline.now() + Self.housekeepingInterval
                result = mosquitto_loop_misc(client)
            }
        }
        return ended(result, client)
    }

    /// Until when the next envelope waits for others; `nil` if it does not.
    private func joiningEnd(_ thread: MosquittoThread) -> NIODeadline? {
        guard unacknowledged > 0, thread.isNextJoinable else { return nil }
        let end = lastSent + Self.joiningTime
        return end > NIODeadline.now() ? end : nil
    }

    /// Sends DISCONNECT and reads until the broker closes the connection. libmosquitto would close it at once; a broker
    /// that is writing to us then would see a broken pipe, treat the connection as lost and publish the will.
    private func leave(_ client: OpaquePointer, by deadline: NIODeadline) {
        let socket = dup(mosquitto_socket(client))
        defer { if socket >= 0 { close(socket) } }
        guard mosquitto_disconnect(client) == MOSQ_ERR_SUCCESS.rawValue, socket >= 0 else { return }
        var discarded = [UInt8](repeating: 0, count: 4096)
        while case let left = deadline - NIODeadline.now(), left > .zero {
            let wantsWrite = mosquitto_socket(client) >= 0 && mosquitto_want_write(client)
            var descriptor = pollfd(fd: socket, events: Int16(POLLIN | (wantsWrite ? POLLOUT : 0)), revents: 0)
            guard poll(&descriptor, 1, Int32(clamping: left.nanoseconds / 1_000_000 + 1)) > 0 else { continue }
            if wantsWrite, Int32(descriptor.revents) & POLLOUT != 0 { mosquitto_loop_write(client, 1) }
            guard Int32(descriptor.revents) & (POLLIN | POLLHUP | POLLERR) != 0 else { continue }
            let count = read(socket, &discarded, discarded.count)
            if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { return }
        }
    }

    private func configure(_ client: OpaquePointer) -> Int32 {
        mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V311)
        mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
        mosquitto_int_option(
            client, MOSQ_OPT_SEND_MAXIMUM, Int32(clamping: min(configuration.unacknowledgedMessages, 65_535)))
        if let credentials = configuration.credentials {
            let result = mosquitto_username_pw_set(client, credentials.userName, credentials.password)
            guard result == MOSQ_ERR_SUCCESS.rawValue else { return result }
        }
        guard let will = configuration.will else { return MOSQ_ERR_SUCCESS.rawValue }
        return mosquitto_will_set(client, will.topic, Int32(clamping: will.payload.count), will.payload, 1, false)
    }

    private func connect(_ client: OpaquePointer) -> Int32 {
        let keepAlive = Int32(clamping: min(max(configuration.keepAlive.nanoseconds / 1_000_000_000, 5), 65_535))
        // The name lookup blocks this thread; connecting does not.
        return switch configuration.endpoint {
        case .unixSocket(let path): mosquitto_connect_async(client, path, 0, keepAlive)
        case .tcp(let host, let port), .tls(let host, let port, _):
            mosquitto_connect_async(client, host, Int32(clamping: port), keepAlive)
        }
    }

    // MARK: TLS

    /// Makes libmosquitto use our context unchanged.
    private func prepareTLS(_ client: OpaquePointer) throws(IoTError) {
        guard case .tls(let host, _, let file) = configuration.endpoint else { return }
        let authority =
            if let known = configuration.certificateAuthority { known } else { try CertificateAuthority(file: file) }
        let verification = try TLSVerification(
            authority: authority, host: host, checksTimes: ClockSanity.isPlausible(configuration.wallClock()))
        guard
            mosquitto_int_option(client, MOSQ_OPT_SSL_CTX_WITH_DEFAULTS, 0) == MOSQ_ERR_SUCCESS.rawValue,
            mosquitto_void_option(client, MOSQ_OPT_SSL_CTX, UnsafeMutableRawPointer(verification.context))
                == MOSQ_ERR_SUCCESS.rawValue
        else { throw IoTError(.internalFailure, "libmosquitto was built without TLS") }
        self.verification = verification
    }

    private func isShakingHands(_ client: OpaquePointer) -> Bool {
        guard verification != nil, !isConnected else { return false }
        guard let session = mosquitto_ssl_get(client) else { return true }
        return SSL_is_init_finished(OpaquePointer(session)) == 0
    }

    /// Waits for POLLOUT while TCP is connecting: libmosquitto would wait for the server to send first.
    private func events(_ client: OpaquePointer) -> Int16 {
        let wantsWrite = mosquitto_want_write(client) || (isShakingHands(client) && !isReachable)
        return Int16(POLLIN | (wantsWrite ? POLLOUT : 0))
    }

    private func brokenConnection(_ socket: Int32) -> MQTTEnd? {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 else { return lost("it disconnected") }
        // There may be data to read before the end.
        if error == 0, isReachable { return nil }
        return lost(error == 0 ? "it disconnected" : String(cString: strerror(error)))
    }

    private func send(_ commands: [MosquittoThread.Command], _ client: OpaquePointer) -> Int32 {
        if !commands.isEmpty { lastSent = NIODeadline.now() }
        for command in commands {
            var identifier: Int32 = 0
            let result: Int32
            switch command {
            case .subscribe(let filter):
                result = mosquitto_subscribe(client, &identifier, filter, 1)
                if result == MOSQ_ERR_SUCCESS.rawValue { subscriptions[identifier] = filter }
            case .publish(let message, _):
                result = mosquitto_publish(
                    client, &identifier, message.topic, Int32(clamping: message.payload.count), message.payload, 1,
                    false)
                if result == MOSQ_ERR_SUCCESS.rawValue { unacknowledged += 1 }
            }
            guard result == MOSQ_ERR_SUCCESS.rawValue else { return result }
        }
        return MOSQ_ERR_SUCCESS.rawValue
    }

    // MARK: Callbacks

    private func setCallbacks(_ client: OpaquePointer) {
        mosquitto_connect_callback_set(client) { _, object, code in
            MosquittoClient.at(object)?.received(connectCode: code)
        }
        mosquitto_subscribe_callback_set(client) { _, object, identifier, count, granted in
            guard let granted, count > 0 else { return }
            MosquittoClient.at(object)?.received(subscription: identifier, quality: granted[0])
        }
        mosquitto_publish_callback_set(client) { _, object, _ in
            MosquittoClient.at(object)?.unacknowledged -= 1
        }
        mosquitto_message_callback_set(client) { _, object, message in
            guard let message = message?.pointee, let topic = message.topic else { return }
            let payload = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
            MosquittoClient.at(object)?.onEvent(
                .message(MQTTMessage(topic: String(cString: topic), payload: Array(payload))))
        }
    }

    private static func at(_ object: UnsafeMutableRawPointer?) -> MosquittoClient? {
        object.map { Unmanaged<MosquittoClient>.fromOpaque($0).takeUnretainedValue() }
    }

    private func received(connectCode: Int32) {
        guard connectCode == 0 else {
            refusal = connectCode
            return
        }
        isConnected = true
        onEvent(.connected)
    }

    /// MQTT 3.1.1 §3.9.3: 0x80 is a refusal.
    private func received(subscription identifier: Int32, quality: Int32) {
        guard let filter = subscriptions.removeValue(forKey: identifier) else { return }
        onEvent(.subscribed(filter: filter, granted: (0...2).contains(quality)))
    }

    // MARK: End of the connection

    /// MQTT 3.1.1 §3.2.2.3: 4 is a bad user name or password, 5 is not authorized.
    private func ended(_ result: Int32, _ client: OpaquePointer) -> MQTTEnd {
        let systemError = errno
        if refusal == 4 || refusal == 5 {
            return .credentialsRefused(IoTError(.tokenRejected))
        }
        if let reason = verification?.refusal {
            return .lost(IoTError(.certificateRejected, "\(configuration.endpoint) was refused: \(reason)"))
        }
        if result == MOSQ_ERR_TLS.rawValue {
            return lost("the TLS handshake failed: is \(configuration.endpoint) the hub's TLS listener?")
        }
        if refusal != 0 { return lost("it refused: \(String(cString: mosquitto_connack_string(refusal)))") }
        guard result != MOSQ_ERR_ERRNO.rawValue else { return lost(String(cString: strerror(systemError))) }
        guard result != MOSQ_ERR_SUCCESS.rawValue else { return lost("the connection ended") }
        return lost(String(cString: mosquitto_strerror(result)))
    }

    private func lost(_ reason: String) -> MQTTEnd {
        .lost(IoTError(.linkUnavailable, "the broker cannot be reached: \(reason)"))
    }
}
