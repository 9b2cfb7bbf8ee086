package import IoTCore
package import NIOCore
package import RTP
package import RTSP

/// Sends the packets of one reader to its player. Used on the camera's event loop, which it must not block.
package protocol ReaderSink: Sendable {
    /// Whether the sink accepts packets now. While it does not, the packets stay in the camera's ring, and nothing is
    /// queued for this reader. The reader checks again at the next frame.
    var isReady: Bool { get }

    func send(_ batch: ReaderBatch)

    /// Sends a run of the track with this index. The bytes change after the call.
    func send(_ run: PacketRun, index: Int)

    /// The camera ended the reader; called once.
    func ended(_ reason: IoTError)
}

extension ReaderSink {
    package func send(_ run: PacketRun, index: Int) { send(ReaderBatch(run, index: index)) }
}

/// Packets of a reader that are sent together.
package struct ReaderBatch: Sendable {
    package struct Packet: Sendable, Hashable {
        /// The index of the track.
        package var index: Int
        /// Whether this is an RTCP packet.
        package var isReport: Bool
        package var length: Int
    }

    /// The packets in order, each with the prefix of its track.
    package internal(set) var bytes = ByteBuffer()
    package internal(set) var packets: [Packet] = []

    package init() {}

    /// A copy of the packets of a run, without the first `skipped`.
    package init(_ run: PacketRun, index: Int, skipping skipped: Int = 0) {
        let prefix = run.isInterleaved ? PacketRun.prefixSize : 0
        let rest = run.sizes.dropFirst(skipped)
        let start = run.sizes.prefix(skipped).reduce(0) { $0 + $1 + prefix }
        bytes =
            run.bytes.getSlice(at: run.bytes.readerIndex + start, length: run.bytes.readableBytes - start)
            .map { ByteBuffer(bytes: $0.readableBytesView) } ?? ByteBuffer()
        packets = rest.map { Packet(index: index, isReport: false, length: $0) }
    }
}

/// One track of a reader.
package struct ReaderTrack: Sendable, Hashable {
    /// The index of the track in the camera's stream.
    package var index: Int
    package var ssrc: UInt32
    /// The channels for the prefix of each packet in a byte stream (RFC 2326 §10.12). `nil` means no prefix.
    package var channels: TransportHeader.Pair<UInt8>?

    package init(index: Int, ssrc: UInt32, channels: TransportHeader.Pair<UInt8>?) {
        self.index = index
        self.ssrc = ssrc
        self.channels = channels
    }
}

/// Where a track of a reader starts.
package struct ReaderStart: Sendable, Hashable {
    package var index: Int
    package var sequenceNumber: UInt16
    /// `nil` if the camera has not sent a frame yet.
    package var timestamp: UInt32?
}
