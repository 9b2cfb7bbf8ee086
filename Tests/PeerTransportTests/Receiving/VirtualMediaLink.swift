import IoTCore
import NIOCore
import RTP
import RTPTestSupport
import TestSupport

@testable import PeerTransport

/// One sender and one receiver over a link with loss, delay and reordering, in virtual time. The bytes are real RTP,
/// RTCP and SRTP.
struct VirtualMediaLink {
    struct Conditions {
        /// 0 to 1, in each direction.
        var loss = 0.0

        /// One way, without jitter.
        var delay = TimeAmount.milliseconds(25)

        /// Added to each datagram's delay, uniformly distributed from 0 to this.
        var jitter = TimeAmount.zero
        var duplication = 0.0
    }

    enum Received {
        case frame(ReceivedFrame)
        case lost
        case report(SenderReportMapping)
    }

    private enum Event {
        case frame(MediaFrame)
        case toReceiver(ByteBuffer)
        case toSender(ByteBuffer)
    }

    private var queue: [(time: NIODeadline, order: Int, event: Event)] = []
    private var order = 0
    private var random: SeededGenerator
    let conditions: Conditions
    let anchor = MediaClockAnchor(pts: 0, wallClock: 1_763_000_000_000_000)
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private var packetizer: Packetizer
    private var ring = PacketRing()
    private(set) var sender: RTPSender
    private(set) var receiver: RTPReceiver
    private let sendingSRTP: SRTPSession
    private let receivingSRTP: SRTPSession

    /// The receiver's output, in order.
    private(set) var received: [(time: NIODeadline, what: Received)] = []
    private(set) var steps = 0

    /// Called for each media datagram to select losses: sequence number, and whether it is a retransmission.
    var losesPacket: (UInt16, Bool) -> Bool = { _, _ in false }

    init(
        codec: RTPCodec, conditions: Conditions, seed: UInt64, firstSequence: UInt16 = 65_000,
        configure: (inout RTPReceiverConfiguration) -> Void = { _ in }
    ) throws {
        self.conditions = conditions
        random = SeededGenerator(seed: seed)
        packetizer = Packetizer(codec: codec)
        sender = RTPSender(
            codec: codec, ssrc: 0x1234_5678, canonicalName: "camera", initialSequenceNumber: firstSequence,
            timestampOffset: 0xFFFF_0000)
        var configuration = RTPReceiverConfiguration(localSSRC: 0x9ABC_DEF0, canonicalName: "gateway")
        configure(&configuration)
        receiver = try RTPReceiver(codecs: [codec], configuration: configuration)
        let material = random.bytes(SRTPProfile.aeadAES128GCM.keyingMaterialLength)
        sendingSRTP = try SRTPSession(profile: .aeadAES128GCM, keyingMaterial: material, isDTLSClient: true)
        receivingSRTP = try SRTPSession(profile: .aeadAES128GCM, keyingMaterial: material, isDTLSClient: false)
    }

    /// Sends each frame at its pts, and runs until `end` after the last.
    mutating func run(_ frames: [MediaFrame], until end: TimeAmount = .seconds(3)) throws {
        for frame in frames { schedule(.frame(frame), at: start + .microseconds(frame.pts)) }
        let end = start + .microseconds(frames.map(\.pts).max() ?? 0) + end
        var timer = NIODeadline.distantFuture
        while steps < 2_000_000 {
            steps += 1
            let next = queue.first?.time ?? .distantFuture
            let now = min(next, timer)
            if now > end { return }
            if next <= timer {
                let (_, _, event) = queue.removeFirst()
                try handle(event, at: now)
            } else {
                receiver.handleTimeout(at: now)
            }
            timer = .distantFuture
            draining: while let output = receiver.poll() {
                switch output {
                case .frame(let frame): received.append((now, .frame(frame)))
                case .frameLost: received.append((now, .lost))
                case .rtcp(let packets):
                    var buffer = ByteBuffer()
                    RTCPPacket.write(compound: packets, into: &buffer)
                    guard receivingSRTP.protectRTCP(&buffer) == .success else { continue }
                    deliver(.toSender(buffer), at: now)
                case .timeout(let time):
                    // A timeout that is not in the future would loop for ever: the limit on steps catches it.
                    timer = time
                    break draining
                }
            }
        }
        throw IoTError(.internalFailure, "the link did not become idle")
    }

    private mutating func handle(_ event: Event, at now: NIODeadline) throws {
        switch event {
        case .frame(let frame):
            for packet in try packetizer.packetize(frame) {
                ring.append(packet, at: now)
                var buffer = ByteBuffer()
                sender.write(packet, into: &buffer, at: now)
                transmit(buffer, isRetransmission: false, at: now)
            }
            let wall = anchor.wallClock + (now - start).nanoseconds / 1_000
            if let report = sender.report(at: now, wallClock: wall, anchor: anchor) {
                var buffer = ByteBuffer()
                RTCPPacket.write(compound: report, into: &buffer)
                if sendingSRTP.protectRTCP(&buffer) == .success { deliver(.toReceiver(buffer), at: now) }
            }
        case .toReceiver(var buffer):
            if RTCPPacket.isRTCP(buffer) {
                guard receivingSRTP.unprotectRTCP(&buffer) == .success else { return }
                for case .senderReport(let report) in try RTCPPacket.parseCompound(buffer) {
                    if let mapping = receiver.handle(senderReport: report, at: now) {
                        received.append((now, .report(mapping)))
                    }
                }
            } else if receivingSRTP.unprotectRTP(&buffer) == .success {
                receiver.handle(try RTPPacket(parsing: buffer), at: now)
            }
        case .toSender(var buffer):
            guard sendingSRTP.unprotectRTCP(&buffer) == .success else { return }
            for packet in try RTCPPacket.parseCompound(buffer) {
                for case .retransmissionRequested(let sequences) in sender.handle(packet, at: now) {
                    for packet in sequences.compactMap({ ring.packet(sequence: $0) }) {
                        var buffer = ByteBuffer()
                        if sender.writeAgain(packet, into: &buffer) {
                            transmit(buffer, isRetransmission: true, at: now)
                        }
                    }
                }
            }
        }
    }

    private mutating func transmit(_ packet: ByteBuffer, isRetransmission: Bool, at now: NIODeadline) {
        var packet = packet
        let number = packet.getInteger(at: packet.readerIndex + 2, as: UInt16.self) ?? 0
        guard sendingSRTP.protectRTP(&packet) == .success else { return }
        if losesPacket(number, isRetransmission) { return }
        deliver(.toReceiver(packet), at: now)
        if Double.random(in: 0..<1, using: &random) < conditions.duplication {
            deliver(.toReceiver(packet), at: now)
        }
    }

    private mutating func deliver(_ event: Event, at now: NIODeadline) {
        guard Double.random(in: 0..<1, using: &random) >= conditions.loss else { return }
        let jitter = Int64.random(in: 0...max(conditions.jitter.nanoseconds, 0), using: &random)
        schedule(event, at: now + conditions.delay + .nanoseconds(jitter))
    }

    private mutating func schedule(_ event: Event, at time: NIODeadline) {
        var low = 0
        var high = queue.count
        while low < high {
            let middle = (low + high) / 2
            if queue[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        queue.insert((time, order, event), at: low)
        order += 1
    }
}

extension VirtualMediaLink {
    var frames: [ReceivedFrame] {
        received.compactMap { if case .frame(let frame) = $0.what { frame } else { nil } }
    }

    var lossCount: Int {
        received.count { if case .lost = $0.what { true } else { false } }
    }

    /// Frames at 25 per second; every `gop`-th is a key frame of six times the size.
    static func pictures(
        _ codec: VideoCodec, count: Int, gop: Int, size: Int, seed: UInt64 = 99
    ) -> [MediaFrame] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { index in
            let isKeyFrame = index % gop == 0
            return MediaFixtures.picture(
                codec, isKeyFrame: isKeyFrame, size: isKeyFrame ? size * 6 : size, pts: Int64(index) * 40_000,
                using: &random)
        }
    }
}
