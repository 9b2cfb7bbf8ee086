import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// One request over its own connection, because a device serves few connections and closes idle ones.
enum ProvisioningHTTPConnection {
    static let largestReply = 16_384
    private static let connectTime = TimeAmount.seconds(5)

    /// The reason why there is no reply, for users.
    struct Lost: Error {
        let reason: String
    }

    static func exchange(
        _ request: ProvisioningRequest, host: String, port: Int, until deadline: NIODeadline
    ) async throws(Lost) -> ProvisioningReply {
        do {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(min(connectTime, max(.milliseconds(1), deadline - .now())))
                .connect(host: host, port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
                            wrappingChannelSynchronously: channel)
                    }
                }
            let underlying = channel.channel
            let expiry = underlying.eventLoop.scheduleTask(deadline: deadline) { underlying.close(promise: nil) }
            defer { expiry.cancel() }
            return try await channel.executeThenClose { inbound, outbound in
                try await outbound.write(.head(head(request, host: host, port: port)))
                try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: request.body))))
                try await outbound.write(.end(nil))
                return try await read(inbound)
            }
        } catch let lost as Lost {
            throw lost
        } catch is CancellationError {
            throw Lost(reason: "it was cancelled")
        } catch {
            throw Lost(reason: reason(error))
        }
    }

    private static func head(_ request: ProvisioningRequest, host: String, port: Int) -> HTTPRequestHead {
        var headers: HTTPHeaders = [
            "Host": port == 80 ? host : "\(host):\(port)",
            "Content-Type": "application/x-www-form-urlencoded",
            "Content-Length": "\(request.body.count)",
            "Connection": "close",
        ]
        if let cookie = request.cookie { headers.add(name: "Cookie", value: cookie) }
        return HTTPRequestHead(version: .http1_1, method: .POST, uri: "/\(request.endpoint)", headers: headers)
    }

    private static func read(
        _ parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>
    ) async throws -> ProvisioningReply {
        var reply: ProvisioningReply?
        for try await part in parts {
            switch part {
            case .head(let head):
                reply = ProvisioningReply(
                    status: Int(head.status.code), cookie: cookie(head.headers["Set-Cookie"].first),
                    retryAfter: head.headers["Retry-After"].first.flatMap(Int.init))
            case .body(let buffer):
                reply?.body += Array(buffer: buffer)
                guard reply?.body.count ?? 0 <= largestReply else {
                    throw Lost(reason: "its answer is longer than \(largestReply) bytes")
                }
            case .end:
                if let reply { return reply }
            }
        }
        throw Lost(reason: "it closed the connection without an answer")
    }

    /// `session=…` without attributes; `nil` if the value is not safe in a header.
    private static func cookie(_ header: String?) -> String? {
        guard let pair = header?.prefix(while: { $0 != ";" }), pair.utf8.count <= 128,
            pair.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return String(pair)
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { reason($0.error) } ?? "its name has no address"
        case ChannelError.connectTimeout: "nothing answers at this address"
        default: "the connection failed"
        }
    }
}
