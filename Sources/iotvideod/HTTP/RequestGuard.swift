import HTTPTypes
import IoTCore
import Logging
import NIOCore
import NIOHTTPTypes

/// Limits how much one connection may send, and how long it may be silent: until the first request's head is complete
/// (including the TLS handshake), until the next one is, and until the end of a body. Closes the connection if a body
/// is far larger than its limit. A body that is a live stream (`StreamedBody`) has no limits until its request is
/// answered: its handler reads it at its own pace. Its connection ends with the response, because a handler that stops
/// reading ends the connection's reading. Also ends a response if the client accepts no data, because waiting data uses
/// memory and the account's quotas.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// A refused body is read up to this size, so that the client can read the refusal.
    private static let bodyLimit = 4 * APIRequest.maximumBodySize

    private let limits: APILimits
    private let connections: Connections
    private var size = 0
    /// The body is a stream, and the request has not been answered yet.
    private var isStream = false
    /// The connection ends with the response.
    private var isLast = false
    /// The number of heads read, minus the number of responses written.
    private var requests = 0
    private var bodyDeadline: Scheduled<Void>?
    private var headDeadline: Scheduled<Void>?
    private var readDeadline: Scheduled<Void>?
    private let logger: Logger

    init(limits: APILimits, connections: Connections, logger: Logger) {
        self.limits = limits
        self.connections = connections
        self.logger = logger
    }

    func handlerAdded(context: ChannelHandlerContext) {
        headDeadline = close(context, in: limits.firstRequestTimeout)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            size = 0
            requests += 1
            stop(&headDeadline)
            isStream = StreamedBody.belongs(to: head)
            isLast = isStream
            if !isStream { bodyDeadline = close(context, in: TimeAmount(limits.requestTimeout)) }
        case .body(let bytes):
            if !isStream { size += bytes.readableBytes }
            if size > Self.bodyLimit {
                context.close(promise: nil)
                return
            }
        case .end:
            isStream = false
            stop(&bodyDeadline)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isLast, case .head(var head) = unwrapOutboundIn(data), head.status.kind != .informational {
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
            return
        }
        var promise = promise
        if case .end = unwrapOutboundIn(data) {
            requests -= 1
            if isStream {
                // The client must end its stream, which nobody reads any more.
                isStream = false
                bodyDeadline = close(context, in: TimeAmount(limits.requestTimeout))
            } else if isLast {
                // RFC 9112 §9.6. Not before the end of the body, because the client could then lose the response.
                let written = promise ?? context.eventLoop.makePromise()
                written.futureResult.whenComplete { [channel = context.channel] _ in channel.close(promise: nil) }
                promise = written
            }
            if requests <= 0 {
                connections.wait(context.channel)
                stop(&headDeadline)
                headDeadline = close(context, in: limits.idleTimeout)
            }
        }
        context.write(data, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stop(&readDeadline)
        if !context.channel.isWritable { awaitReader(context.channel) }
        context.fireChannelWritabilityChanged()
    }

    /// The waiting data must shrink within each `readTimeout`.
    private func awaitReader(_ channel: any Channel, _ before: Int? = nil) {
        let waiting = Self.waiting(channel)
        if let before, waiting >= before {
            let error = IoTError(
                .slowReader, "the client accepted no data for \(limits.readTimeout.nanoseconds / 1_000_000_000) s")
            logger.notice("A response was ended", metadata: ["error": "\(error)"])
            channel.close(promise: nil)
            return
        }
        readDeadline = channel.eventLoop.assumeIsolated().scheduleTask(in: limits.readTimeout) { [self] in
            awaitReader(channel, waiting)
        }
    }

    /// Bytes that have not been sent to the client yet.
    private static func waiting(_ channel: any Channel) -> Int {
        let options = channel.syncOptions
        return (try? options?.getOption(.bufferedWritableBytes)) ?? 0
    }

    func channelInactive(context: ChannelHandlerContext) {
        stopAll()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stopAll()
    }

    private func close(_ context: ChannelHandlerContext, in time: TimeAmount) -> Scheduled<Void> {
        let channel = context.channel
        return context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }

    private func stopAll() {
        stop(&bodyDeadline)
        stop(&headDeadline)
        stop(&readDeadline)
    }

    private func stop(_ deadline: inout Scheduled<Void>?) {
        deadline?.cancel()
        deadline = nil
    }
}
