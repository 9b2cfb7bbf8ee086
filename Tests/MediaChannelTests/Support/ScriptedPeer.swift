import IoTCore
import NIOCore
import NIOEmbedded
import RTP

@testable import MediaChannel
@testable import PeerTransport

/// A viewer's peer connection without a network: it records what it is given, with the loop's time.
final class ScriptedPeer: ViewerPeer {
    struct Sent {
        let time: NIODeadline
        let mid: String
        let packet: MediaPacket
    }

    let configuration: PeerConfiguration
    private let loop: EmbeddedEventLoop
    private let onEvent: (PeerEvent) -> Void

    var localDescription: SessionDescription?
    var mediaClockAnchor: MediaClockAnchor?
    var unansweredServers: Set<String> = []
    var answeredServers: Set<String> = []
    var statistics = PeerStatistics()
    /// The packets that the viewer is known to lack.
    var lacking: [Int64] = []
    private(set) var candidates: [String] = []
    private(set) var sent: [Sent] = []
    private(set) var resent: [MediaPacket] = []
    private(set) var repaired: [[Int64]] = []
    private(set) var isClosed = false
    /// The error of the next answer.
    var failure: IoTError?

    init(_ configuration: PeerConfiguration, loop: EmbeddedEventLoop, onEvent: @escaping (PeerEvent) -> Void) {
        self.configuration = configuration
        self.loop = loop
        self.onEvent = onEvent
        localDescription = try? SessionDescription(parsing: VirtualCamera.offer())
    }

    func happens(_ event: PeerEvent) { onEvent(event) }

    /// Returns the packets sent since the last call.
    func take() -> [Sent] {
        defer { sent = [] }
        return sent
    }

    func createOffer() throws(IoTError) -> SessionDescription { try SessionDescription(parsing: VirtualCamera.offer()) }

    func createAnswer(
        to offer: SessionDescription, accepting: (MediaSection) -> Bool
    ) throws(IoTError) -> SessionDescription {
        if let failure { throw failure }
        return offer
    }

    func setAnswer(_ answer: SessionDescription) throws(IoTError) {}

    /// How far the viewer was told to turn each section's pictures.
    private(set) var rotations: [String: PictureRotation] = [:]
    func setRotation(_ rotation: PictureRotation, mid: String) { rotations[mid] = rotation }
    func addRemoteCandidate(_ text: String) throws(IoTError) { candidates.append(text) }

    func send(_ packets: [MediaPacket], mid: String) -> Bool {
        sent += packets.map { Sent(time: loop.now, mid: mid, packet: $0) }
        return true
    }

    func resend(_ packet: MediaPacket, mid: String) -> Bool {
        resent.append(packet)
        return true
    }

    /// The control channel's messages in both directions.
    private(set) var texts: [String] = []

    func openDataChannel(
        label: String, subprotocol: String, options: DataChannelOptions
    ) throws(IoTError) -> DataChannel {
        throw IoTError(.notImplemented)
    }

    func send(_ message: DataChannelMessage, on id: DataChannelID) throws(IoTError) {
        if case .text(let text) = message { texts.append(text) }
    }

    func bufferedAmount(of id: DataChannelID) -> Int { 0 }
    func closeDataChannel(_ id: DataChannelID) { texts.append("closed") }

    func undelivered(mid: String) -> [Int64] { lacking }
    func repair(_ sequences: [Int64], mid: String) { repaired.append(sequences) }
    /// The codecs of the sections in which the peer sends.
    var receiving: [String: RTPCodec] = [:]
    private(set) var keyFrameRequests = 0

    func receivingCodecs(mid: String) -> [RTPCodec] { receiving[mid].map { [$0] } ?? [] }
    func requestKeyFrame(mid: String) { keyFrameRequests += 1 }
    func close() { isClosed = true }
}
