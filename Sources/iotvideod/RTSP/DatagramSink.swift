import IoTCore
import MediaChannel
import NIOCore
import RTP
import RTSP
import Synchronization

/// Sends a reader's packets by UDP.
final class DatagramSink: ReaderSink {
    /// The largest number of bytes that wait for the sockets' event loop.
    private static let limit = 1_048_576

    /// The player's addresses for a track.
    struct Addresses: Sendable, Hashable {
        var rtp: SocketAddress
        var rtcp: SocketAddress
    }

    private let datagrams: RTSPDatagrams
    private let onEnd: @Sendable () -> Void
    private let tracks = Mutex<[Int: Addresses]>([:])
    private let waiting = Atomic<Int>(0)
    private let isReported = Atomic<Bool>(false)
    /// The rate of the player's reports. Excess reports are ignored.
    private let rate = Mutex(RateLimit(RTSPServerLimits().frames))
    /// Receives the player's reports. `close` releases it, because the reader references this sink.
    private let reader = Mutex<CameraReader?>(nil)

    init(_ datagrams: RTSPDatagrams, onEnd: @escaping @Sendable () -> Void) {
        self.datagrams = datagrams
        self.onEnd = onEnd
    }

    var serverPorts: TransportHeader.Pair<UInt16> { datagrams.ports }

    /// - Parameter peer: The player's address, with any port.
    func add(index: Int, peer: SocketAddress, ports: TransportHeader.Pair<UInt16>) {
        var addresses = Addresses(rtp: peer, rtcp: peer)
        addresses.rtp.port = Int(ports.rtp)
        addresses.rtcp.port = Int(ports.rtcp)
        tracks.withLock { $0[index] = addresses }
        datagrams.listen(to: addresses.rtcp, for: ObjectIdentifier(self)) { [weak self] bytes in
            guard let self, rate.withLock({ $0.take(at: .now()) }) else { return }
            isReported.store(true, ordering: .relaxed)
            reader.withLock { $0 }?.receive(bytes, index: index)
        }
    }

    func serve(_ reader: CameraReader) { self.reader.withLock { $0 = reader } }

    /// Whether a report was received since the last call.
    func takeReported() -> Bool { isReported.exchange(false, ordering: .relaxed) }

    func close() {
        reader.withLock { $0 = nil }
        for addresses in tracks.withLock({ $0.values.map { $0 } }) {
            datagrams.stopListening(to: addresses.rtcp, for: ObjectIdentifier(self))
        }
    }

    var isReady: Bool { waiting.load(ordering: .relaxed) < Self.limit }

    func send(_ batch: ReaderBatch) {
        if waiting.load(ordering: .relaxed) == 0, batch.packets.allSatisfy(\.isReport),
            datagrams.send(reports: batch, to: tracks.withLock { $0 })
        {
            return
        }
        let count = batch.bytes.readableBytes
        waiting.add(count, ordering: .relaxed)
        datagrams.send(batch, to: tracks.withLock { $0 }) { [self] in waiting.subtract(count, ordering: .relaxed) }
    }

    func send(_ run: PacketRun, index: Int) {
        guard let place = tracks.withLock({ $0[index] }) else { return }
        let sent = waiting.load(ordering: .relaxed) == 0 ? datagrams.send(run, to: place.rtp) : 0
        if sent < run.sizes.count { send(ReaderBatch(run, index: index, skipping: sent)) }
    }

    func ended(_ reason: IoTError) { onEnd() }
}
