import CReference
import Foundation
import IoTCore
import NIOCore
import NIOPosix
import PeerTransport
import RTP

/// Viewers in their own process, so that the sender's memory and time do not include theirs. Like a browser, each has
/// its own UDP port and answers ICE, DTLS and RTCP.
///
/// Reads and writes lines: `offer INDEX SDP` returns `answer INDEX SDP`. If the viewer calls, `offer INDEX` returns
/// `offer INDEX SDP`, and `answer INDEX SDP` returns `answer INDEX`. `connected` returns the number of connected
/// viewers; `ports` their ports; `report` a line of JSON with their counters.
enum ViewerProcess {
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
        let box = NIOLoopBoundBox.makeBoxSendingValue(Viewers(), eventLoop: loop)
        while let line = readLine() {
            let words = line.split(separator: " ")
            let index = words.dropFirst().first.flatMap { Int($0) } ?? 0
            guard sockets.indices.contains(index) else { continue }
            let socket = sockets[index]
            switch (words.first, words.count) {
            case ("offer", 2):
                let offer = try await loop.submit {
                    try box.value.offer(on: socket, certificate: certificate, box)
                }.get()
                Lines.write("offer \(index) \(Lines.encode(offer))")
            case ("offer", 3):
                let offer = Lines.decode(words[2])
                let answer = try await loop.submit {
                    try box.value.answer(offer, on: socket, certificate: certificate, box)
                }.get()
                Lines.write("answer \(index) \(Lines.encode(answer))")
            case ("answer", 3):
                let answer = try SessionDescription(parsing: Lines.decode(words[2]))
                try await loop.submit { try box.value.peers[index].setAnswer(answer) }.get()
                Lines.write("answer \(index)")
            case ("connected", 1):
                let connected = try await loop.submit { box.value.connected }.get()
                Lines.write("connected \(connected)")
            case ("ports", 1):
                Lines.write("ports " + sockets.map { "\($0.localAddress.port ?? 0)" }.joined(separator: ","))
            case ("report", 1):
                let report = try await loop.submit { box.value.report() }.get()
                Lines.write("report \(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))")
            default: break
            }
        }
    }

    struct Viewers {
        var peers: [Peer] = []
        var connected = 0
        var frames = 0
        var lostFrames = 0

        /// Makes an offer with the feedback for congestion control, like a browser's.
        mutating func offer(
            on socket: PeerSocket, certificate: PeerCertificate, _ box: NIOLoopBoundBox<Viewers>
        ) throws -> String {
            let section = MediaSection(
                mid: "0", kind: .video, direction: .receiveOnly, codecs: [ViewerProcess.codec])
            var configuration = PeerConfiguration(hostAddresses: [], isControlling: true, sections: [section])
            configuration.congestion.isEnabled = true
            return try add(configuration, on: socket, certificate, box).createOffer().text
        }

        mutating func answer(
            _ offer: String, on socket: PeerSocket, certificate: PeerCertificate, _ box: NIOLoopBoundBox<Viewers>
        ) throws -> String {
            let configuration = PeerConfiguration(hostAddresses: [], isControlling: false)
            return try add(configuration, on: socket, certificate, box)
                .createAnswer(to: SessionDescription(parsing: offer)).text
        }

        private mutating func add(
            _ configuration: PeerConfiguration, on socket: PeerSocket, _ certificate: PeerCertificate,
            _ box: NIOLoopBoundBox<Viewers>
        ) throws -> Peer {
            let peer = try socket.makePeer(configuration: configuration, certificate: certificate) { event in
                switch event {
                case .stateChanged(.connected): box.value.connected += 1
                case .frame: box.value.frames += 1
                case .frameLost: box.value.lostFrames += 1
                default: break
                }
            }
            peers.append(peer)
            return peer
        }

        func report() -> ViewerReport {
            var report = ViewerReport(frames: frames, lostFrames: lostFrames, cpu: reference_process_cpu())
            for inbound in peers.flatMap(\.statistics.inbound.values) {
                report.packets += inbound.packetsReceived
                report.bytes += inbound.bytesReceived
                report.packetsLost += inbound.packetsLost
            }
            return report
        }
    }
}

/// Sums over all viewers of the process.
struct ViewerReport: Codable {
    let frames: Int
    let lostFrames: Int
    var packets: UInt64 = 0
    var bytes: UInt64 = 0
    var packetsLost: Int64 = 0
    /// User and system time of the process, ns.
    let cpu: Int64
}

/// Encodes descriptions as single lines.
enum Lines {
    static func encode(_ text: String) -> String { Hex.encode(Array(text.utf8)) }

    static func decode(_ text: some StringProtocol) -> String {
        String(decoding: Hex.decode(String(text)) ?? [], as: UTF8.self)
    }

    static func write(_ line: String) {
        print(line)
        // Flushed, because standard output is a pipe.
        fflushAll()
    }
}
