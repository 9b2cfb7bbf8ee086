public import IoTCore
import NIOCore
import Synchronization

/// Exchanges an enrolment string for tokens.
public enum Enrolment {
    private static let pause = Duration.milliseconds(500)

    /// Connects, exchanges, and disconnects. A hub that listens with TLS is known by the fingerprint in the string: its
    /// chain is fetched first, and the secret is sent only on a second connection that is verified against that very
    /// authority. When the answer is lost it is asked for again, until the time is over.
    ///
    /// - Parameter name: what the device calls itself, for a provisioning token that makes a device.
    /// - Throws: 21101 for an enrolment that was used, has expired, or was never this hub's; 25027 when the hub's
    ///   authority is not the string's; 21025 when nothing can be reached there; 21002 when the hub did not answer;
    ///   21103 when the hub failed; 21004 when its answer makes no sense; and what the hub answers else.
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
            "\(host):\(port) is not the hub that made this enrolment string: expected the authority SHA-256 "
                + "\(Hex.encode(fingerprint)), seen \(seen); the secret was not sent",
            remedy: "check the address, or make a new string at the hub")
    }
}

/// One exchange: the same request on every connection that it takes.
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
        // The hub's clock is not known yet, and a box that joins may have none: a deadline in the year 9999 is none.
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

    /// Throws 21025 for a connection that could not be made or was lost.
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
        throw IoTError(.stopping, "the exchange was given up")
    }

    /// A hub that cannot store what it decided has not used the enrolment up.
    private static func result(_ reply: LinkReply) throws(IoTError) -> EnrolmentTokens {
        do throws(IoTError) {
            return try SessionMethod.exchangeEnrolment.result(try reply.outcome.get())
        } catch {
            guard [.storeFailed, .internalFailure].contains(error.code) else { throw error }
            throw IoTError(
                .provisioningServer, error.message, remedy: "try again; read the hub's log", underlying: error)
        }
    }

    /// The broker knows an enrolment for as long as it can be used, and says no more than that it does not know it.
    private static func refused(_ error: IoTError?) -> IoTError {
        IoTError(
            .provisioningTokenExpired,
            "the enrolment string was used, has expired, or was revoked",
            remedy: "make a new one at the hub with `iotctl token create --enrol`", underlying: error)
    }
}
