import CReference
import IoTCore
import NIOCore
import NIOPosix
import PeerTransport
import RTP

/// Viewers of a daemon's camera, each with a UDP port of its own, as a browser has: they answer ICE, DTLS and RTCP, and
/// send the feedback that congestion control needs. `fanout.py` carries the descriptions.
///
/// Speaks by lines: `offer INDEX` gets `offer INDEX SDP`; `answer INDEX SDP` gets `answer INDEX`; `connected` how many
/// are; `ports` their ports; `report` a line of JSON with what they have counted.
enum WatchProcess {
    static let codec = RTPCodec(
        payloadType: 96, encodingName: "H264", clockRate: 90_000,
        formatParameters: ["packetization-mode": "1", "profile-level-id": "42e01f", "level-asymmetry-allowed": "1"])

    static func run(count: Int) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        var sockets: [PeerSocket] = []
        for _ in 0..<count {
            sockets.append(
                try await PeerSocket.bind(
                    to: SocketAddress(ipAddress: Setting.loopback, port: 0), on: loop, logger: Setting.logger))
        }
        let certificate = try PeerCertificate.generate()
        let box = NIOLoopBoundBox.makeBoxSendingValue(Watchers(), eventLoop: loop)
        while let line = readLine() {
            let fields = line.split(separator: " ")
            switch fields.first {
            case "offer"?:
                guard fields.count == 2, let index = Int(fields[1]), sockets.indices.contains(index) else { continue }
                let socket = sockets[index]
                let offer = try await loop.submit {
                    try box.value.offer(on: socket, certificate: certificate, box)
                }.get()
                Lines.write("offer \(index) \(Lines.encode(offer))")
            case "answer"?:
                guard fields.count == 3, let index = Int(fields[1]) else { continue }
                let answer = try SessionDescription(parsing: Lines.decode(fields[2]))
                try await loop.submit { try box.value.peers[index].setAnswer(answer) }.get()
                Lines.write("answer \(index)")
            case "connected"?:
                let connected = try await loop.submit { box.value.connected }.get()
                Lines.write("connected \(connected)")
            case "ports"?:
                Lines.write("ports " + sockets.map { "\($0.localAddress.port ?? 0)" }.joined(separator: ","))
            case "report"?:
                let report = try await loop.submit { box.value.report() }.get()
                Lines.write("report \(report)")
            default: break
            }
        }
    }

    struct Watchers {
        var peers: [Peer] = []
        var connected = 0
        var frames = 0
        var lostFrames = 0

        mutating func offer(
            on socket: PeerSocket, certificate: PeerCertificate, _ box: NIOLoopBoundBox<Watchers>
        ) throws -> String {
            let section = MediaSection(
                mid: "0", kind: .video, direction: .receiveOnly, codecs: [WatchProcess.codec])
            var configuration = PeerConfiguration(hostAddresses: [], isControlling: true, sections: [section])
            configuration.congestion.isEnabled = true
            let peer = try socket.makePeer(configuration: configuration, certificate: certificate) { event in
                switch event {
                case .stateChanged(.connected): box.value.connected += 1
                case .frame: box.value.frames += 1
                case .frameLost: box.value.lostFrames += 1
                default: break
                }
            }
            peers.append(peer)
            return try peer.createOffer().text
        }

        /// Sums over all viewers; CPU in nanoseconds of this process.
        func report() -> String {
            var packets: UInt64 = 0
            var bytes: UInt64 = 0
            var lost: Int64 = 0
            for peer in peers {
                guard let inbound = peer.statistics.inbound["0"] else { continue }
                packets += inbound.packetsReceived
                bytes += inbound.bytesReceived
                lost += inbound.packetsLost
            }
            return """
                {"frames":\(frames),"lostFrames":\(lostFrames),"packets":\(packets),"bytes":\(bytes),\
                "packetsLost":\(lost),"cpu":\(reference_process_cpu())}
                """
        }
    }
}
