import IoTCore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One POST over its own connection, with TLS for `https`, with a bounded answer and without redirects.
///
/// It uses NIO's HTTP, which the daemon contains anyway: an HTTP client library would be too much for a few requests
/// when a camera is added.
struct HTTPExchange {
    let loops: any EventLoopGroup
    let timeout: TimeAmount
    var trust = CameraTrust.none

    /// - Throws: 25041 for a name without an address, 25010 without an answer in time, 25027 for an untrusted
    ///   certificate. With 25027, nothing was sent to the camera.
    func post(_ request: ONVIFSession.Request) async throws -> ONVIFSession.Answer {
        let (url, loop) = (request.url, loops.next())
        let promise = loop.makePromise(of: ONVIFSession.Answer.self)
        let connecting = ClientBootstrap(group: loop).connectTimeout(timeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if url.scheme == "https" {
                        try channel.pipeline.syncOperations.addHandler(encryption(url) { promise.fail($0) })
                    }
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(Handler(request, promise))
                }
            }
        let channel: any Channel
        do {
            channel = try await connecting.connect(host: url.host, port: url.portOrDefault).get()
        } catch {
            promise.fail(error)
            throw Self.describe(error, url)
        }
        let limit = loop.scheduleTask(in: timeout) { promise.fail(ChannelError.connectTimeout(timeout)) }
        defer {
            limit.cancel()
            channel.close(promise: nil)
        }
        do {
            return try await withTaskCancellationHandler {
                try await promise.futureResult.get()
            } onCancel: {
                loop.execute { promise.fail(CancellationError()) }
            }
        } catch let error as IoTError {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw Self.describe(error, url)
        }
    }

    /// - Parameter refuse: Called with the reason if the camera's certificate is not trusted.
    private func encryption(
        _ url: ServiceURL, refuse: @escaping @Sendable (IoTError) -> Void
    ) throws -> NIOSSLClientHandler {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        // The system's certificate authorities are not loaded: that is slow, and they sign no camera's certificate.
        configuration.trustRoots = .certificates([])
        // Cameras' certificates rarely contain the camera's host name.
        configuration.certificateVerification = .noHostnameVerification
        let trust = trust
        return try NIOSSLClientHandler(
            context: NIOSSLContext(configuration: configuration),
            // SNI does not permit an address (RFC 6066 §3).
            serverHostname: url.address == nil ? url.host : nil,
            customVerificationCallback: { certificates, verified in
                guard let der = try? certificates.first?.toDERBytes() else { return verified.succeed(.failed) }
                let fingerprint = CertificateFingerprint(der: der)
                if trust.accepts(fingerprint) { return verified.succeed(.certificateVerified) }
                refuse(Self.refusal(fingerprint, trust, url))
                verified.succeed(.failed)
            })
    }

    private static func refusal(
        _ fingerprint: CertificateFingerprint, _ trust: CameraTrust, _ url: ServiceURL
    ) -> IoTError {
        let isPinned = trust != .none
        return IoTError(
            .certificateRejected,
            isPinned
                ? "the camera at \(url.host) has a different certificate: SHA-256 \(fingerprint)"
                : "the certificate of the camera at \(url.host) is unknown: SHA-256 \(fingerprint)",
            remedy: "compare this fingerprint with the one on the camera's web page; if they are equal, add "
                + "--certificate \(fingerprint); --insecure accepts any certificate, including an attacker's")
    }

    private static func describe(_ error: any Error, _ url: ServiceURL) -> IoTError {
        let place = "\(url.host):\(url.portOrDefault)"
        if error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError {
            return IoTError(
                .sourceUnreachable, "TLS with the camera at \(place) failed; the camera must support TLS 1.2 or newer",
                underlying: error)
        }
        if let failure = error as? NIOConnectionError, failure.connectionErrors.isEmpty, failure.dnsAError != nil {
            return IoTError(.sourceHostUnknown, "the host \(url.host) has no address", underlying: error)
        }
        return IoTError(.sourceUnreachable, "the camera at \(place) does not answer", underlying: error)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias OutboundOut = HTTPClientRequestPart

        private let request: ONVIFSession.Request
        private let promise: EventLoopPromise<ONVIFSession.Answer>
        private var answer: ONVIFSession.Answer?
        private var isSettled = false

        init(_ request: ONVIFSession.Request, _ promise: EventLoopPromise<ONVIFSession.Answer>) {
            self.request = request
            self.promise = promise
        }

        func channelActive(context: ChannelHandlerContext) {
            // A zone is only valid on this machine (RFC 6874 §4).
            let url = request.url
            let name = url.host.prefix { $0 != "%" }
            let host = (name.contains(":") ? "[\(name)]" : String(name)) + (url.port.map { ":\($0)" } ?? "")
            var headers: HTTPHeaders = [
                "Host": host, "Content-Type": "application/soap+xml; charset=utf-8", "Connection": "close",
                "Content-Length": String(request.body.utf8.count),
            ]
            if let authorization = request.authorization { headers.add(name: "Authorization", value: authorization) }
            let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: request.url.path, headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: request.body)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            context.fireChannelActive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                answer = ONVIFSession.Answer(
                    status: Int(head.status.code), challenges: head.headers["WWW-Authenticate"], body: [])
            case .body(let part):
                answer?.body.append(contentsOf: part.readableBytesView)
                if let answer, answer.body.count > XMLLimits.answer.bytes {
                    settle(.failure(IoTError(.sourceUnsupported, "the camera's answer is too large")))
                    context.close(promise: nil)
                }
            case .end:
                if let answer { settle(.success(answer)) }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            settle(.failure(error))
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            settle(.failure(ChannelError.eof))
            context.fireChannelInactive()
        }

        private func settle(_ result: Result<ONVIFSession.Answer, any Error>) {
            guard !isSettled else { return }
            isSettled = true
            promise.completeWith(result)
        }
    }
}
