import IoTCore
import NIOCore
import NIOPosix
import RTP
import Synchronization
import TestSupport
import Testing

@testable import RTSP

/// Uses real sockets of this machine.
@Suite struct RTSPClientSessionTests {
    private func failure(
        transport: RTSPTransport = .tcp, change: (inout RTSPClientConfiguration) -> Void = { _ in },
        _ script: @escaping @Sendable (RTSPRequest, any Channel) -> Void
    ) async throws -> (error: IoTError, frames: Int) {
        let server = try await ScriptedServer(script)
        var configuration = RTSPClientConfiguration(
            url: try #require(ServiceURL("rtsp://127.0.0.1:\(server.port)/front")), credentials: nil,
            transport: transport)
        change(&configuration)
        let (events, continuation) = AsyncStream.makeStream(of: RTSPClientSession.Event.self)
        let session = RTSPClientSession(
            configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.any()
        ) { continuation.yield($0) }
        session.start()
        var frames = 0
        for await event in events {
            switch event {
            case .opened, .backChannelOpened: break
            case .frame: frames += 1
            case .failed(let error):
                try await server.close()
                return (error, frames)
            }
        }
        throw Unreachable()
    }

    private struct Unreachable: Error {}

    @Test("If the server stops within a frame, the session ends in time")
    func stopsWithinFrame() async throws {
        let (error, frames) = try await failure(change: { $0.readTimeout = .milliseconds(300) }) { request, channel in
            ScriptedServer.answer(request, channel)
            guard request.method == .play else { return }
            ScriptedServer.sendPictures(3, channel)
            channel.writeAndFlush(ByteBuffer(bytes: [0x24, 0, 0xFF, 0xFF, 1, 2, 3]), promise: nil)
        }
        #expect(error.code == .sourceUnreachable && frames == 3)
    }

    @Test("A response with a body of 1 GB is refused when its head arrives")
    func largeAnswer() async throws {
        let (error, _) = try await failure { _, channel in
            let head = "RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 1073741824\r\n\r\n"
            channel.writeAndFlush(ByteBuffer(string: head), promise: nil)
        }
        #expect(error.code == .sourceUnsupported && error.message.contains("larger than"))
    }

    @Test("A response head without an end is refused at the size limit")
    func endlessAnswer() async throws {
        let (error, _) = try await failure { _, channel in
            let fields = String(repeating: "A: b\r\n", count: 4_000)
            channel.writeAndFlush(ByteBuffer(string: "RTSP/1.0 200 OK\r\n" + fields), promise: nil)
        }
        #expect(error.code == .sourceUnsupported)
    }

    @Test("A server that never answers, closes the connection or does not listen has its own error")
    func absent() async throws {
        let silent = try await failure(change: { $0.openTimeout = .milliseconds(300) }) { _, _ in }
        #expect(silent.error.message.contains("in time"))
        let closing = try await failure { _, channel in channel.close(promise: nil) }
        #expect(closing.error.message.contains("closed"))
        let refused = try await failure(change: { $0.url.port = 1 }) { _, _ in }
        #expect(refused.error.code == .sourceUnreachable)
        // RFC 6761 §6.4: this name never exists.
        let unknown = try await failure(change: { $0.url.host = "door.invalid" }) { _, _ in }
        #expect(unknown.error.code == .sourceHostUnknown)
    }

    @Test("If no datagram arrives, TCP is used")
    func udpBlocked() async throws {
        let (error, frames) = try await failure(
            transport: .udp,
            change: {
                $0.firstDatagramTimeout = .milliseconds(200)
                $0.readTimeout = .milliseconds(400)
            }
        ) { request, channel in
            ScriptedServer.answer(request, channel)
            let isTCP = ScriptedServer.isInterleaved(channel)
            if request.method == .play, isTCP { ScriptedServer.sendPictures(5, channel) }
        }
        #expect(frames == 5 && error.code == .sourceUnreachable)
    }

    @Test("Reading stops within one read of the socket, and resumes with the next frame")
    func stopsWithinRead() async throws {
        let server = try await ScriptedServer { request, channel in
            ScriptedServer.answer(request, channel)
            if request.method == .play { ScriptedServer.sendPictures(1_000, channel) }
        }
        let configuration = RTSPClientConfiguration(
            url: try #require(ServiceURL("rtsp://127.0.0.1:\(server.port)/front")), credentials: nil, transport: .tcp)
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        let wants = Mutex(true)
        let box = Mutex<RTSPClientSession?>(nil)
        let count = Mutex(0)
        let (counts, continuation) = AsyncStream.makeStream(of: Int.self)
        let session = RTSPClientSession(configuration, eventLoop: eventLoop) {
            wants.withLock { $0 }
        } onEvent: { event in
            guard case .frame = event else { return }
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1_000 { continuation.yield(number) }
            guard number == 10 else { return }
            wants.withLock { $0 = false }
            box.withLock { $0 }?.updateReading()
            // Runs after the rest of this read.
            eventLoop.execute {
                continuation.yield(count.withLock { $0 })
                wants.withLock { $0 = true }
                box.withLock { $0 }?.updateReading()
            }
        }
        box.withLock { $0 = session }
        session.start()
        var found: [Int] = []
        for await number in counts {
            found.append(number)
            if number == 1_000 { break }
        }
        #expect(found == [10, 1_000])
        session.stop()
        box.withLock { $0 = nil }
        try await server.close()
    }

    @Test("While frames are not taken, reading stops; later all frames arrive")
    func fullQueue() async throws {
        let count = 4_000
        let server = try await ScriptedServer { request, channel in
            ScriptedServer.answer(request, channel)
            if request.method == .play { ScriptedServer.sendPictures(count, channel, size: 8_000) }
        }
        let configuration = RTSPClientConfiguration(
            url: try #require(ServiceURL("rtsp://127.0.0.1:\(server.port)/front")), credentials: nil, transport: .tcp)
        let input = RTSPInput(configuration, eventLoop: nil)
        let tracks = try input.open()
        #expect(tracks.video?.codec == .h264 && tracks.audio == nil)
        for _ in 0..<count { _ = try input.readFrame() }
        input.cancel()
        let error = #expect(throws: IoTError.self) { try input.readFrame() }
        #expect(error?.code == .stopping)
        try await server.close()
    }
}
