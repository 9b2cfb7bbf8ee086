import NIOCore
import Synchronization

/// Writes to a connection, and counts the bytes that are not sent yet. Used from any thread.
final class RTSPOutput: Sendable {
    let channel: any Channel
    private let waiting = Atomic<Int>(0)
    /// When the socket last accepted bytes, or when bytes began to wait, in ns of `NIODeadline`.
    private let progress = Atomic<UInt64>(0)

    init(_ channel: any Channel) {
        self.channel = channel
    }

    var waitingBytes: Int { waiting.load(ordering: .relaxed) }

    /// Waits until the socket has accepted the bytes, or the connection has ended.
    func write(_ bytes: ByteBuffer) async {
        try? await send(bytes).get()
    }

    @discardableResult
    func send(_ bytes: ByteBuffer) -> EventLoopFuture<Void> {
        let count = bytes.readableBytes
        if waiting.add(count, ordering: .relaxed).oldValue == 0 { noteProgress() }
        let sent = channel.writeAndFlush(bytes)
        sent.whenComplete { [self] _ in
            waiting.subtract(count, ordering: .relaxed)
            noteProgress()
        }
        return sent
    }

    private func noteProgress() {
        progress.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed)
    }

    /// Whether bytes wait and the socket has accepted none for this time.
    func isStalled(for time: TimeAmount, at now: NIODeadline) -> Bool {
        guard waitingBytes > 0 else { return false }
        return now - .uptimeNanoseconds(progress.load(ordering: .relaxed)) > time
    }

    func close() { channel.close(promise: nil) }
}
