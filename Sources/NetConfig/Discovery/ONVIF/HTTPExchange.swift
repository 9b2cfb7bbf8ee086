import CameraTLS
import IoTCore
import NIOCore
import NIOHTTP1
import NIOPosix

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
                        try channel.pipeline.syncOperations.addHandler(
                            CameraTLS.handler(to: url, trust: trust, remedy: Self.remedy) { promise.fail($0) })
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

    private static func remedy(_ fingerprint: CertificateDigest) -> String {
        "compare this fingerprint with the one on the camera's web page; if they are equal, add "
            + "--certificate \(fingerprint); --certificate any accepts every certificate, including an attacker's"
    }

    private static func describe(_ error: any Error, _ url: ServiceURL) -> IoTError {
        let place = "\(url.host):\(url.portOrDefault)"
        if let failure = CameraTLS.describe(error, url) { return failure }
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
