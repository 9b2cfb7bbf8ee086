package import IoTCore
package import NIOCore
package import NIOHTTP1
import NIOPosix

/// One POST over its own connection, with a bounded answer and without redirects.
///
/// It uses NIO's HTTP, which the daemon contains anyway: an HTTP client library would be too much for a few requests.
package struct HTTPPost: Sendable {
    package struct Answer: Sendable {
        package var head: HTTPResponseHead
        package var body: [UInt8] = []
    }

    /// Makes the TLS handler of a connection. The callback ends the request with an error of its own.
    package typealias MakeTLS = @Sendable (_ fail: @escaping @Sendable (any Error) -> Void) throws -> any ChannelHandler

    package enum Body: Sendable {
        case bytes(ByteBuffer)
        /// Of `size` bytes. `next` gives those from a place on, at least one; it is called when the ones before are sent.
        case stream(size: Int, next: @Sendable (Int) async throws -> ByteBuffer)

        var size: Int {
            switch self {
            case .bytes(let bytes): bytes.readableBytes
            case .stream(let size, _): size
            }
        }
    }

    private let url: ServiceURL
    private let headers: HTTPHeaders
    private let body: Body
    private let maximumAnswer: Int?

    /// - Parameters:
    ///   - headers: besides `Host`, `Connection` and `Content-Length`.
    ///   - maximumAnswer: the most bytes of the answer's body; `nil` to read nothing after its head.
    package init(_ url: ServiceURL, headers: HTTPHeaders, body: ByteBuffer, maximumAnswer: Int?) {
        self.init(url, headers: headers, body: .bytes(body), maximumAnswer: maximumAnswer)
    }

    package init(_ url: ServiceURL, headers: HTTPHeaders, body: Body, maximumAnswer: Int?) {
        self.url = url
        self.headers = headers
        self.body = body
        self.maximumAnswer = maximumAnswer
    }

    /// - Parameters:
    ///   - timeout: for the connection, and again for the answer, in which a body that is a stream is sent.
    ///   - connectTimeout: `nil`: as `timeout`.
    ///   - address: where to connect; `nil` for the URL's host.
    ///   - makeTLS: `nil` for a connection without TLS.
    /// - Throws: `dataTooLong` if the answer is too large; NIO's errors.
    package func send(
        on loop: any EventLoop, timeout: TimeAmount, connectTimeout: TimeAmount? = nil,
        to address: SocketAddress? = nil, makeTLS: MakeTLS? = nil
    ) async throws -> Answer {
        let promise = loop.makePromise(of: Answer.self)
        let connecting = ClientBootstrap(group: loop).connectTimeout(connectTimeout ?? timeout).channelInitializer {
            [self] channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                if let makeTLS { try pipeline.addHandler(makeTLS { promise.fail($0) }) }
                try pipeline.addHTTPClientHandlers()
                try pipeline.addHandler(Handler(self, promise))
            }
        }
        let connection =
            address.map { connecting.connect(to: $0) } ?? connecting.connect(host: url.host, port: url.portOrDefault)
        // Unlike the future, it can be waited for by a task that is cancelled.
        let opened = Readiness<any Channel>()
        connection.whenComplete { result in
            opened.settle(result)
            switch result {
            case .failure(let error): promise.fail(error)
            case .success(let channel):
                let limit = loop.scheduleTask(in: timeout) { promise.fail(ChannelError.connectTimeout(timeout)) }
                promise.futureResult.whenComplete { _ in
                    limit.cancel()
                    channel.close(promise: nil)
                }
            }
        }
        return try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                if case .stream(let size, let next) = body {
                    group.addTask {
                        guard let channel = try? await opened.wait() else { return }
                        await Self.send(size, next, over: channel, promise)
                    }
                }
                defer { group.cancelAll() }
                return try await promise.futureResult.get()
            }
        } onCancel: {
            loop.execute { promise.fail(CancellationError()) }
        }
    }

    private static func send(
        _ size: Int, _ next: @Sendable (Int) async throws -> ByteBuffer, over channel: any Channel,
        _ promise: EventLoopPromise<Answer>
    ) async {
        var place = 0
        while place < size, !Task.isCancelled {
            let bytes: ByteBuffer
            do {
                bytes = try await next(place)
            } catch {
                return promise.fail(error)
            }
            place += bytes.readableBytes
            // A server may answer before the end, and close the connection; the answer decides.
            guard (try? await channel.writeAndFlush(HTTPClientRequestPart.body(.byteBuffer(bytes)))) != nil else {
                return
            }
        }
        try? await channel.writeAndFlush(HTTPClientRequestPart.end(nil))
    }

    private var head: HTTPRequestHead {
        // A zone is only valid on this machine (RFC 6874 §4).
        let name = url.host.prefix { $0 != "%" }
        var headers = headers
        headers.add(
            name: "Host", value: (name.contains(":") ? "[\(name)]" : String(name)) + (url.port.map { ":\($0)" } ?? ""))
        headers.add(name: "Connection", value: "close")
        headers.add(name: "Content-Length", value: String(body.size))
        return HTTPRequestHead(version: .http1_1, method: .POST, uri: url.path, headers: headers)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias OutboundOut = HTTPClientRequestPart

        private let request: HTTPPost
        private let promise: EventLoopPromise<Answer>
        private var answer: Answer?
        private var isSettled = false

        init(_ request: HTTPPost, _ promise: EventLoopPromise<Answer>) {
            self.request = request
            self.promise = promise
        }

        func channelActive(context: ChannelHandlerContext) {
            switch request.body {
            case .bytes(let bytes):
                context.write(wrapOutboundOut(.head(request.head)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            case .stream: context.writeAndFlush(wrapOutboundOut(.head(request.head)), promise: nil)
            }
            context.fireChannelActive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                answer = Answer(head: head)
                if request.maximumAnswer == nil { settle(.success(Answer(head: head)), context) }
            case .body(let part):
                answer?.body.append(contentsOf: part.readableBytesView)
                if let count = answer?.body.count, count > request.maximumAnswer ?? count {
                    settle(.failure(IoTError(.dataTooLong, "the answer is too large")), context)
                }
            case .end:
                if let answer { settle(.success(answer), context) }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { settle(.failure(error), context) }

        func channelInactive(context: ChannelHandlerContext) {
            settle(.failure(ChannelError.eof), context)
            context.fireChannelInactive()
        }

        /// The first result counts.
        private func settle(_ result: Result<Answer, any Error>, _ context: ChannelHandlerContext) {
            guard !isSettled else { return }
            isSettled = true
            promise.completeWith(result)
            context.close(promise: nil)
        }
    }
}
