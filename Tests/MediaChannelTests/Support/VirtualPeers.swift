import IoTCore
import NIOCore
import NIOEmbedded
import RTP
import TestSupport

@testable import MediaChannel
@testable import PeerTransport

/// Makes one peer connection for a camera's viewer, which is polled by the test.
///
/// `@unchecked Sendable`: everything is used only on the test's thread.
final class VirtualPeers: @unchecked Sendable {
    private(set) var camera: PeerConnection?
    private(set) var onEvent: ((PeerEvent) -> Void)?
    private let loop: EmbeddedEventLoop
    private let clock: VirtualWall
    private let seed: UInt64
    private let isNACKEnabled: Bool

    init(_ loop: EmbeddedEventLoop, _ clock: VirtualWall, seed: UInt64, isNACKEnabled: Bool) {
        self.loop = loop
        self.clock = clock
        self.seed = seed
        self.isNACKEnabled = isNACKEnabled
    }

    func make(
        _ configuration: PeerConfiguration, _ onEvent: @escaping (PeerEvent) -> Void
    ) throws(IoTError) -> any ViewerPeer {
        var configuration = configuration
        configuration.isNACKEnabled = isNACKEnabled
        configuration.wallClock = { [clock] in clock.microseconds }
        let connection = PeerConnection(
            configuration: configuration, certificate: try .generate(), now: loop.now,
            generator: SeededGenerator(seed: seed))
        camera = connection
        self.onEvent = onEvent
        return VirtualPeer(connection, loop)
    }

    /// Passes everything on with the loop's time.
    private final class VirtualPeer: ViewerPeer {
        private let connection: PeerConnection
        private let loop: EmbeddedEventLoop

        init(_ connection: PeerConnection, _ loop: EmbeddedEventLoop) {
            self.connection = connection
            self.loop = loop
        }

        var localDescription: SessionDescription? { connection.localDescription }
        var mediaClockAnchor: MediaClockAnchor? {
            get { connection.mediaClockAnchor }
            set { connection.mediaClockAnchor = newValue }
        }
        let unansweredServers: Set<String> = []
        let answeredServers: Set<String> = []
        var statistics: PeerStatistics { connection.statistics }

        func createOffer() throws(IoTError) -> SessionDescription { try connection.createOffer() }

        func createAnswer(
            to offer: SessionDescription, accepting: (MediaSection) -> Bool
        ) throws(IoTError) -> SessionDescription { try connection.createAnswer(to: offer, accepting: accepting) }

        func setAnswer(_ answer: SessionDescription) throws(IoTError) { try connection.setAnswer(answer) }
        func addRemoteCandidate(_ text: String) throws(IoTError) {}
        func send(_ packets: [MediaPacket], mid: String) -> Bool { connection.send(packets, mid: mid, at: loop.now) }
        func resend(_ packet: MediaPacket, mid: String) -> Bool { connection.resend(packet, mid: mid, at: loop.now) }
        func undelivered(mid: String) -> [Int64] { [] }
        func repair(_ sequences: [Int64], mid: String) {}
        func receivingCodecs(mid: String) -> [RTPCodec] { connection.receivingCodecs(mid: mid) }
        func setRotation(_ rotation: PictureRotation, mid: String) { connection.setRotation(rotation, mid: mid) }
        func requestKeyFrame(mid: String) { connection.requestKeyFrame(mid: mid) }
        func close() {}

        func openDataChannel(
            label: String, subprotocol: String, options: DataChannelOptions
        ) throws(IoTError) -> DataChannel { throw IoTError(.notImplemented) }
        func send(_ message: DataChannelMessage, on id: DataChannelID) throws(IoTError) {}
        func bufferedAmount(of id: DataChannelID) -> Int { 0 }
        func closeDataChannel(_ id: DataChannelID) {}
    }
}
