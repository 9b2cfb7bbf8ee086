public import IoTCore
import NIOCore
import Synchronization

/// Exchanges an enrolment string for tokens.
public enum Enrolment {
    private static let pause = Duration.milliseconds(500)

    /// Connects, exchanges, and disconnects.
    ///
    /// The string of a TLS hub holds the fingerprint of its certificate authority. A first connection only fetches the
    /// chain. The secret is sent on a second connection, which is verified against the authority with that fingerprint.
    /// After a lost connection the request is repeated until `timeout`.
    ///
    /// - Parameter name: the device's own name, for a provisioning token that creates a device.
    /// - Throws: 21101 for an enrolment that was used, has expired, or is not this hub's; 25027 when the hub's
    ///   authority is not the string's; 21025 when the hub cannot be reached; 21002 when the hub did not answer;
    ///   21103 when the hub failed; 21004 when its answer is malformed; and any error that the hub answers with.
    public static func exchange(
        _ string: EnrolmentString, name: String? = nil, timeout: Duration = .seconds(30)
    ) async throws(IoTError) -> EnrolmentGrant {
        let deadline = NIODeadline.now() + TimeAmount(min(max(timeout, .zero), .seconds(3_600)))
        let exchange = try Exchange(string, name: name)
        var authority: CertificateAuthority?
        var lastFailure = IoTError(.linkUnavailable, "the hub cannot be reached")
        while true {
            do throws(IoTError) {
                if authority == nil, case .tls(let host, let port, let fingerprint) = string.place {
                    authority = try await findAuthority(host, port, fingerprint, deadline: deadline)
                }
                let tokens = try await exchange.run(authority, deadline: deadline)
                return EnrolmentGrant(tokens, place: string.place, authority: authority)
            } catch {
                guard error.code == .linkUnavailable, !Task.isCancelled else { throw error }
                lastFailure = error
            }
            guard NIODeadline.now() + TimeAmount(pause) < deadline else { throw lastFailure }
            try? await Task.sleep(for: pause)
        }
    }

    private static func findAuthority(
        _ host: String, _ port: Int, _ fingerprint: [UInt8], deadline: NIODeadline
    ) async throws(IoTError) -> CertificateAuthority {
        let chain = try await CertificateChain.fetch(host: host, port: port, deadline: deadline)
        if let authority = chain.first(where: { $0.fingerprint == fingerprint }) { return authority }
        let seen = chain.last.map { Hex.encode($0.fingerprint) } ?? "none"
        throw IoTError(
            .certificateRejected,
            "\(host):\(port) is not the hub that created this enrolment string: expected the authority SHA-256 "
                + "\(Hex.encode(fingerprint)), seen \(seen); the secret was not sent",
            remedy: "check the address, or create a new string on the hub")
    }
}

/// One exchange. Every connection sends the same request.
private struct Exchange {
    let string: EnrolmentString
    let address: LinkAddress
    let request: LinkRequest
    let payload: [UInt8]

    init(_ string: EnrolmentString, name: String?) throws(IoTError) {
        guard let principal = Principal(kind: .enrolment, id: string.id) else {
            throw IoTError(.provisioningTokenFailed)
        }
        self.string = string
        address = LinkAddress.random(principal)
        // The hub's clock is not known yet, and the machine that joins may have no clock. The deadline, in the year
        // 9999, is never reached.
        request = LinkRequest(
            id: RequestID.random(), method: SessionMethod.exchangeEnrolment.name,
            params: EnrolmentExchange(name: name).json, t: WallClock.milliseconds(), deadline: 253_402_300_799_000)
        payload = try Envelope.request(request).serialized()
    }

    private var endpoint: LinkEndpoint {
        switch string.place {
        case .tls(let host, let port, _): .tls(host: host, port: port, certificateAuthorityFile: "")
        case .unixSocket(let path): .unixSocket(path: path)
        }
    }

    /// Throws 21025 when the connection failed or was lost.
    func run(_ authority: CertificateAuthority?, deadline: NIODeadline) async throws(IoTError) -> EnrolmentTokens {
        var configuration = MQTTConfiguration(
            endpoint: endpoint, clientID: RequestID.random(),
            credentials: MQTTCredentials(userName: string.id, password: string.secret))
        configuration.certificateAuthority = authority
        let (events, feed) = AsyncStream.makeStream(of: MQTTEvent.self, bufferingPolicy: .bufferingOldest(64))
        let connection = MQTTConnection(configuration: configuration) { event in
            feed.yield(event)
            if case .ended = event { feed.finish() }
        }
        connection.connect()
        defer { connection.disconnect() }
        let outcome = await withTaskGroup(of: Result<EnrolmentTokens, IoTError>.self) { group in
            group.addTask { [self] in
                do throws(IoTError) {
                    return .success(try await follow(events, connection))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                let left = Duration(max(deadline - NIODeadline.now(), .zero))
                try? await Task.sleep(for: left, clock: .suspending)
                return .failure(IoTError(.messageTimeout, "the hub did not answer the enrolment in time"))
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? .failure(IoTError(.stopping))
        }
        return try outcome.get()
    }

    private func follow(
        _ events: AsyncStream<MQTTEvent>, _ connection: MQTTConnection
    ) async throws(IoTError) -> EnrolmentTokens {
        for await event in events {
            switch event {
            case .connected: try connection.subscribe(address.downTopic)
            case .subscribed(_, let granted):
                guard granted else { throw Self.refused(nil) }
                try connection.publish(MQTTMessage(topic: address.upTopic, payload: payload))
            case .message(let message):
                guard message.topic == address.downTopic,
                    case .reply(let reply)? = try? Envelope(parsing: message.payload), reply.id == request.id
                else { continue }
                return try Self.result(reply)
            case .ended(.credentialsRefused(let error)): throw Self.refused(error)
            case .ended(.lost(let error)): throw error
            case .ended(.disconnected): throw IoTError(.linkUnavailable, "the connection to the hub ended")
            }
        }
        throw IoTError(.stopping, "the exchange was cancelled")
    }

    private static func result(_ reply: LinkReply) throws(IoTError) -> EnrolmentTokens {
        do throws(IoTError) {
            return try SessionMethod.exchangeEnrolment.result(try reply.outcome.get())
        } catch {
            throw error.duringProvisioning
        }
    }

    /// The broker forgets an enrolment that can no longer be used. Its refusal does not say why.
    private static func refused(_ error: IoTError?) -> IoTError {
        IoTError(
            .provisioningTokenExpired,
            "the enrolment string was used, has expired, or was revoked",
            remedy: "create a new one on the hub with `iotctl token create --enrol`", underlying: error)
    }
}
