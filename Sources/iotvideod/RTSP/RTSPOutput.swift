import Glibc
import NIOCore
import Synchronization

/// Writes to a connection, and counts the bytes that are not sent yet. Used from any thread.
///
/// Media are written directly to the socket, by the thread that has the packets. Only what the socket does not accept
/// waits in NIO's channel, and what comes later then waits there, too.
final class RTSPOutput: Sendable {
    private struct State {
        /// The bytes that wait in the channel.
        var waiting = 0
        /// When the socket last accepted bytes, or when bytes began to wait.
        var progress = NIODeadline.uptimeNanoseconds(0)
        /// A descriptor of our own for the socket; `nil` with TLS, before the first event, and after the end.
        var descriptor: CInt?
    }

    let channel: any Channel
    private let state = Mutex(State())

    /// - Parameter isPlain: Whether the socket gets the bytes as they are, without TLS.
    init(_ channel: any Channel, isPlain: Bool) {
        self.channel = channel
        if isPlain { channel.eventLoop.execute { self.openDescriptor() } }
    }

    /// NIO closes its own descriptor at the end of the connection, at any time. The number can be another socket's then.
    private func openDescriptor() {
        let own = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) {
            fcntl($0, F_DUPFD_CLOEXEC, 0)
        }
        guard let own, own >= 0 else { return }
        state.withLock { $0.descriptor = own }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { $0.descriptor = nil }
            Glibc.close(own)
        }
    }

    var waitingBytes: Int { state.withLock { $0.waiting } }

    /// Waits until the socket has accepted the bytes, or the connection has ended.
    func write(_ bytes: ByteBuffer) async {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        state.withLock { enqueue(bytes, &$0, promise) }
        try? await promise.futureResult.get()
    }

    func send(_ bytes: ByteBuffer) {
        var rest = bytes
        state.withLock { state in
            let sent = rest.withUnsafeReadableBytes { write($0, state) }
            rest.moveReaderIndex(forwardBy: sent)
            if rest.readableBytes > 0 { enqueue(rest, &state, channel.eventLoop.makePromise()) }
        }
    }

    /// - Parameter bytes: Valid only during this call.
    func send(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { state in
            let rest = bytes.dropFirst(write(bytes, state))
            if !rest.isEmpty { enqueue(ByteBuffer(bytes: rest), &state, channel.eventLoop.makePromise()) }
        }
    }

    /// Returns how many bytes the socket has accepted. An error is left to the channel, which closes the connection.
    private func write(_ bytes: UnsafeRawBufferPointer, _ state: State) -> Int {
        guard state.waiting == 0, let descriptor = state.descriptor else { return 0 }
        while true {
            let sent = Glibc.send(
                descriptor, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
            if sent >= 0 { return sent }
            if errno != EINTR { return 0 }
        }
    }

    /// Called with the lock, so that what is written later also follows later in the channel. `execute` never calls back
    /// at once.
    private func enqueue(_ bytes: ByteBuffer, _ state: inout State, _ promise: EventLoopPromise<Void>) {
        let count = bytes.readableBytes
        if state.waiting == 0 { state.progress = .now() }
        state.waiting += count
        promise.futureResult.whenComplete { [self] _ in
            self.state.withLock { state in
                state.waiting -= count
                state.progress = .now()
            }
        }
        channel.eventLoop.execute { [channel] in channel.writeAndFlush(bytes, promise: promise) }
    }

    /// Whether bytes wait and the socket has accepted none for this time.
    func isStalled(for time: TimeAmount, at now: NIODeadline) -> Bool {
        state.withLock { $0.waiting > 0 && now - $0.progress > time }
    }

    func close() { channel.close(promise: nil) }
}
