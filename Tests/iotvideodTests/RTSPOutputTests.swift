import IoTCore
import NIOCore
import NIOPosix
import Testing

@testable import iotvideod

/// Uses real sockets of this machine.
@Suite(.timeLimit(.minutes(2))) struct RTSPOutputTests {
    /// Passes on what it receives.
    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let onBytes: @Sendable (ByteBuffer) -> Void

        init(_ onBytes: @escaping @Sendable (ByteBuffer) -> Void) { self.onBytes = onBytes }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { onBytes(unwrapInboundIn(data)) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// The two ends of a connection. The player reads only after `autoRead` is set.
    private func connection() async throws -> (
        server: any Channel, player: any Channel, received: AsyncStream<ByteBuffer>, listener: any Channel
    ) {
        let (accepted, acceptance) = AsyncStream.makeStream(of: (any Channel).self)
        let (received, arrival) = AsyncStream.makeStream(of: ByteBuffer.self)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.socketOption(.so_sndbuf), value: 32_768)
            .childChannelInitializer { channel in
                acceptance.yield(channel)
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let player = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: false)
            .channelOption(.socketOption(.so_rcvbuf), value: 32_768)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector { arrival.yield($0) })
                }
            }
            .connect(host: "127.0.0.1", port: listener.localAddress?.port ?? 0).get()
        let server = await accepted.first { _ in true }
        return (try #require(server), player, received, listener)
    }

    /// A message of a writer: its number, the message's number, and the size of the rest.
    private static func message(_ writer: UInt8, _ number: UInt32) -> ByteBuffer {
        let size = Int(number * 7_919 % 3_001)
        var bytes = ByteBuffer()
        bytes.writeMultipleIntegers(writer, number, UInt16(size))
        bytes.writeRepeatingByte(UInt8(truncatingIfNeeded: number), count: size)
        return bytes
    }

    @Test(
        "Bytes of several threads come whole and in order, also when the player stops reading",
        arguments: [true, false])
    func order(isPlain: Bool) async throws {
        let (server, player, received, listener) = try await connection()
        let output = RTSPOutput(server, isPlain: isPlain)
        let count: UInt32 = 1_500
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<count {
                    let message = Self.message(0, number)
                    message.withUnsafeReadableBytes { output.send($0) }
                }
            }
            group.addTask { for number in 0..<count { output.send(Self.message(1, number)) } }
            // A response waits until the socket has accepted it.
            group.addTask { for number in 0..<200 as Range<UInt32> { await output.write(Self.message(2, number)) } }
            group.addTask {
                var bytes = ByteBuffer()
                var next: [UInt32] = [0, 0, 0]
                for await part in received {
                    bytes.writeImmutableBuffer(part)
                    while let (writer, number, size) = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self).flatMap({
                        writer -> (UInt8, UInt32, UInt16)? in
                        guard let number = bytes.getInteger(at: bytes.readerIndex + 1, as: UInt32.self),
                            let size = bytes.getInteger(at: bytes.readerIndex + 5, as: UInt16.self)
                        else { return nil }
                        return (writer, number, size)
                    }), bytes.readableBytes >= 7 + Int(size) {
                        try #require(writer < 3 && number == next[Int(writer)])
                        try #require(bytes.readSlice(length: 7 + Int(size)) == Self.message(writer, number))
                        next[Int(writer)] += 1
                    }
                    bytes.discardReadBytes()
                    if next == [count, count, 200] { return }
                }
            }
            group.addTask {
                // The sockets hold much less than is sent.
                while output.waitingBytes < 1_000_000 { await Task.yield() }
                #expect(!output.isStalled(for: .hours(1), at: .now()))
                #expect(output.isStalled(for: .zero, at: .now() + .seconds(1)))
                try await player.setOption(.autoRead, value: true).get()
            }
            try await group.waitForAll()
        }
        while output.waitingBytes > 0 { await Task.yield() }
        #expect(!output.isStalled(for: .zero, at: .distantFuture))
        try await player.close()
        try await listener.close()
    }

    @Test("After the end of the connection, bytes are dropped, and nothing waits")
    func end() async throws {
        let (server, player, _, listener) = try await connection()
        let output = RTSPOutput(server, isPlain: true)
        output.close()
        try await server.closeFuture.get()
        for number in 0..<10 as Range<UInt32> { output.send(Self.message(0, number)) }
        await output.write(Self.message(0, 10))
        while output.waitingBytes > 0 { await Task.yield() }
        // The player sees the end, although the output is still there; perhaps before it reads.
        try? await player.setOption(.autoRead, value: true).get()
        try await player.closeFuture.get()
        withExtendedLifetime(output) {}
        try await listener.close()
    }
}
