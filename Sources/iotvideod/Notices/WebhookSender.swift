import Gateway
import GatewayAPI
import IoTCore
import NIOCore
import NIOHTTP1
import NIOSSL
import NetConfig
import PeerTransport

/// Sends notices by HTTP. It reads no more of the answer than its head.
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
        // Off the loop, because the system's certificate authorities are read.
        let tls = url.scheme == "https" ? try NIOSSLContext(configuration: .makeClientConfiguration()) : nil
        let post = HTTPPost(
            url, headers: ["Content-Type": "application/json", "User-Agent": "iotvideod"],
            body: ByteBuffer(bytes: body), maximumAnswer: nil)
        let makeTLS = tls.map { Self.makeTLS($0, url) }
        let (limit, error) = (timeout, ChannelError.connectTimeout(timeout))
        let answer = try await within(.nanoseconds(limit.nanoseconds), orThrow: error) {
            try await post.send(on: loop, timeout: limit, to: address, makeTLS: makeTLS)
        }
        return Int(answer.head.status.code)
    }

    private static func makeTLS(_ context: NIOSSLContext, _ url: ServiceURL) -> HTTPPost.MakeTLS {
        { _ in
            let isAddress = (try? SocketAddress(ipAddress: url.host, port: 0)) != nil
            return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : url.host)
        }
    }
}
