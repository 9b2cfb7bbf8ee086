import Foundation
import IoTCore
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import Testing

@testable import RTSP

/// Sessions over TLS with servers that do not behave. Uses real sockets of this machine.
@Suite(.timeLimit(.minutes(2))) struct EncryptedSessionTests {
    /// A self-signed certificate, made by the command `openssl`.
    private func context() throws -> NIOSSLContext {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rtsps-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (key, certificate) = (folder.appendingPathComponent("key"), folder.appendingPathComponent("certificate"))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
            "/CN=camera",
            "-keyout", key.path, "-out", certificate.path,
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: NIOSSLCertificate.fromPEMFile(certificate.path).map { .certificate($0) },
                privateKey: .privateKey(NIOSSLPrivateKey(file: key.path, format: .pem))))
    }

    private func configuration(port: Int) throws -> RTSPClientConfiguration {
        var configuration = RTSPClientConfiguration(
            url: try #require(ServiceURL("rtsps://127.0.0.1:\(port)/front")), credentials: nil, transport: .tcp)
        configuration.trust = .any
        return configuration
    }

    private func session(
        _ configuration: RTSPClientConfiguration
    ) -> (session: RTSPClientSession, events: AsyncStream<RTSPClientSession.Event>) {
        let (events, continuation) = AsyncStream.makeStream(of: RTSPClientSession.Event.self)
        let session = RTSPClientSession(
            configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.any()
        ) { continuation.yield($0) }
        session.start()
        return (session, events)
    }

    /// Sends bytes after each read, and never more.
    private final class Handshake: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let bytes: [UInt8]
        private let left: @Sendable () -> Void

        init(_ bytes: [UInt8], left: @escaping @Sendable () -> Void) {
            self.bytes = bytes
            self.left = left
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            context.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { left() }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    @Test(
        "A handshake that never ends ends the session in time, and the connection is closed",
        arguments: [
            [],
            // A record of the handshake of 16,000 bytes that stops after its first bytes.
            [0x16, 3, 3, 0x3E, 0x80, 2, 0, 0x3E, 0x7C, 3, 3],
        ] as [[UInt8]])
    func endlessHandshake(answer: [UInt8]) async throws {
        let (departures, continuation) = AsyncStream.makeStream(of: Void.self)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handshake(answer) { continuation.yield() })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        var configuration = try configuration(port: server.localAddress?.port ?? 0)
        configuration.openTimeout = .milliseconds(300)
        let (session, events) = session(configuration)
        var failure: IoTError?
        for await event in events {
            guard case .failed(let error) = event else { continue }
            failure = error
            break
        }
        #expect(failure?.code == .sourceUnreachable && failure?.message.contains("in time") == true)
        // The connection does not wait for the handshake, or for the peer's close_notify.
        for await _ in departures { break }
        session.stop()
        try await server.close()
    }

    @Test("A server that stops reading still shows its pictures, and a stop closes the connection to it")
    func pausesReading() async throws {
        let (channels, continuation) = AsyncStream.makeStream(of: (any Channel).self)
        let server = try await ScriptedServer(tls: try context()) { request, channel in
            ScriptedServer.answer(request, channel)
            guard request.method == .play else { return }
            channel.setOption(.autoRead, value: false).whenComplete { _ in
                ScriptedServer.sendPictures(2_000, channel, size: 4_000)
                continuation.yield(channel)
            }
        }
        let (session, events) = session(try configuration(port: server.port))
        var frames = 0
        for await event in events {
            if case .failed(let error) = event { Issue.record(error) }
            if case .frame = event { frames += 1 }
            if frames == 2_000 { break }
        }
        session.stop()
        for await channel in channels {
            // It finds the end when it reads again.
            try await channel.setOption(.autoRead, value: true).get()
            try await channel.closeFuture.get()
            break
        }
        try await server.close()
    }

    @Test("Sound for a server that stops reading is dropped, and is heard again when the server reads")
    func pausedBackChannel() async throws {
        let received = Mutex(0)
        let (channels, continuation) = AsyncStream.makeStream(of: (any Channel).self)
        let (sounds, heard) = AsyncStream.makeStream(of: Int.self)
        let server = try await ScriptedServer(tls: try context()) { request, channel in
            ScriptedServer.answer(
                request, channel, lines: ["m=audio 0 RTP/AVP 0", "a=sendonly", "a=control:trackID=5"])
            guard request.method == .play else { return }
            channel.setOption(.autoRead, value: false).whenComplete { _ in continuation.yield(channel) }
        } onFrame: { frame in
            guard frame.channel == 0 else { return }
            let sum = received.withLock { received in
                received += frame.payload.readableBytes
                return received
            }
            heard.yield(sum)
        }
        var configuration = try configuration(port: server.port)
        configuration.purpose = .backChannel
        let (session, events) = session(configuration)
        for await event in events {
            if case .failed(let error) = event { Issue.record(error) }
            if case .backChannelOpened = event { break }
        }
        let paused = await channels.first { _ in true }
        let channel = try #require(paused)
        // 16 MB: far more than the sockets' buffers.
        let packet = ByteBuffer(repeating: 0x55, count: 1_600)
        for _ in 0..<10_000 { session.send(sound: packet, sampleCount: 1_600) }
        try await channel.setOption(.autoRead, value: true).get()
        let earliest = await sounds.first { _ in true }
        let first = try #require(earliest)
        #expect(first > 0)
        // Each packet that is heard makes the next one.
        var total = first
        for await sum in sounds {
            total = sum
            if sum > 400_000 { break }
            session.send(sound: packet, sampleCount: 1_600)
        }
        #expect(total < 4_000_000, "\(total) of 16,000,000 bytes")
        session.stop()
        try await server.close()
    }
}
