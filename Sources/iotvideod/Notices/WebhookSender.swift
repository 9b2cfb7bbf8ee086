import Gateway
import GatewayAPI
import IoTCore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PeerTransport

/// Sends notices by HTTP: one POST over its own connection, without redirections. It reads no more of the answer than its
/// status.
///
/// It uses NIO's HTTP, as the ONVIF client does: an HTTP client library would be too much for a few requests.
struct WebhookSender: NoticeSender {
    let loops: any EventLoopGroup
    var timeout = TimeAmount.seconds(10)
    /// The addresses that may be contacted.
    var resolve: @Sendable (ServiceURL, Bool, any EventLoop) async throws -> [SocketAddress]? = {
        url, isPrivate, loop in
        try await PublicAddresses.resolve(
            url.host, port: url.portOrDefault, allowsPrivate: isPrivate, on: loop)
    }

    func send(_ notice: OfflineNotice, to url: ServiceURL, allowsPrivate: Bool) async throws(NoticeFailure) {
        let loop = loops.next()
        let status: Int
        do {
            guard let addresses = try await resolve(url, allowsPrivate, loop) else {
                throw NoticeFailure(IoTError(.sourceHostUnknown, "the webhook's host has no address"), isFinal: false)
            }
            guard let address = addresses.first else {
                throw NoticeFailure(
                    IoTError(
                        .forbidden, "the webhook's host is this machine, or on a private network",
                        remedy: "use a public address; administrators may also use one of the local network"),
                    isFinal: true)
            }
            status = try await post(try APICoding.encode(notice), to: address, url, on: loop)
        } catch let failure as NoticeFailure {
            throw failure
        } catch {
            throw NoticeFailure(
                IoTError(.sourceUnreachable, "the webhook does not answer", underlying: error), isFinal: false)
        }
        guard !(200..<300).contains(status) else { return }
        throw NoticeFailure(
            IoTError(.sourceUnsupported, "the webhook answered with status \(status)"),
            isFinal: status < 500 && status != 429 && status != 408)
    }

    /// - Returns: the answer's status.
    private func post(
        _ body: some Collection<UInt8> & Sendable, to address: SocketAddress, _ url: ServiceURL, on loop: any EventLoop
    ) async throws -> Int {
        let promise = loop.makePromise(of: Int.self)
        // Off the loop, because the system's certificate authorities are read.
        let tls = url.scheme == "https" ? try NIOSSLContext(configuration: .makeClientConfiguration()) : nil
        let connecting = ClientBootstrap(group: loop).connectTimeout(timeout).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                if let tls {
                    let isAddress = (try? SocketAddress(ipAddress: url.host, port: 0)) != nil
                    try pipeline.addHandler(
                        NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : url.host))
                }
                try pipeline.addHTTPClientHandlers()
                try pipeline.addHandler(Handler(url, ByteBuffer(bytes: body), promise))
            }
        }
        let limit = loop.scheduleTask(in: timeout) { promise.fail(ChannelError.connectTimeout(timeout)) }
        defer { limit.cancel() }
        let channel: any Channel
        do {
            channel = try await connecting.connect(to: address).get()
        } catch {
            promise.fail(error)
            throw error
        }
        defer { channel.close(promise: nil) }
        return try await withTaskCancellationHandler {
            try await promise.futureResult.get()
        } onCancel: {
            loop.execute { promise.fail(CancellationError()) }
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias OutboundOut = HTTPClientRequestPart

        private let url: ServiceURL
        private let body: ByteBuffer
        private let promise: EventLoopPromise<Int>

        init(_ url: ServiceURL, _ body: ByteBuffer, _ promise: EventLoopPromise<Int>) {
            self.url = url
            self.body = body
            self.promise = promise
        }

        func channelActive(context: ChannelHandlerContext) {
            let host = (url.host.contains(":") ? "[\(url.host)]" : url.host) + (url.port.map { ":\($0)" } ?? "")
            let headers: HTTPHeaders = [
                "Host": host, "Content-Type": "application/json", "Connection": "close",
                "Content-Length": String(body.readableBytes), "User-Agent": "iotvideod",
            ]
            let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: url.path, headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            context.fireChannelActive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .head(let head) = unwrapInboundIn(data) { settle(.success(Int(head.status.code)), context) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { settle(.failure(error), context) }

        func channelInactive(context: ChannelHandlerContext) {
            settle(.failure(ChannelError.eof), context)
            context.fireChannelInactive()
        }

        /// The first result counts.
        private func settle(_ result: Result<Int, any Error>, _ context: ChannelHandlerContext) {
            promise.completeWith(result)
            context.close(promise: nil)
        }
    }
}
