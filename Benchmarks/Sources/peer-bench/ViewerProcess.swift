import IoTCore
import NIOCore
import NIOPosix
import PeerTransport

/// The viewers, in a process of their own so that their memory and time are not counted as the camera's.
///
/// Speaks by lines: `offer INDEX SDP` gets `answer INDEX SDP`; `ports` their ports; `report` what they have received.
enum ViewerProcess {
    static func run(count: Int) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        var sockets: [PeerSocket] = []
        for _ in 0..<count {
            sockets.append(
                try await PeerSocket.bind(
                    to: SocketAddress(ipAddress: Setting.loopback, port: 0), on: loop, logger: Setting.logger))
        }
        let certificate = try PeerCertificate.generate()
        let viewers = NIOLoopBoundBox.makeBoxSendingValue(Viewers(), eventLoop: loop)
        while let line = readLine() {
            let fields = line.split(separator: " ")
            switch fields.first {
            case "offer"?:
                guard fields.count == 3, let index = Int(fields[1]) else { continue }
                let offer = Lines.decode(fields[2])
                let socket = sockets[index]
                let answer = try await loop.submit {
                    try viewers.value.answer(offer, on: socket, certificate: certificate, viewers)
                }.get()
                Lines.write("answer \(index) \(Lines.encode(answer))")
            case "ports"?:
                Lines.write("ports " + sockets.map { "\($0.localAddress.port ?? 0)" }.joined(separator: ","))
            case "report"?:
                let report = try await loop.submit { viewers.value.report() }.get()
                Lines.write("report \(report)")
            default: break
            }
        }
    }

    struct Viewers {
        var peers: [Peer] = []
        var frames = 0
        var lostFrames = 0

        mutating func answer(
            _ offer: String, on socket: PeerSocket, certificate: PeerCertificate, _ box: NIOLoopBoundBox<Viewers>
        ) throws -> String {
            let peer = try socket.makePeer(
                configuration: PeerConfiguration(hostAddresses: [], isControlling: false), certificate: certificate
            ) { event in
                switch event {
                case .frame: box.value.frames += 1
                case .frameLost: box.value.lostFrames += 1
                default: break
                }
            }
            peers.append(peer)
            return try peer.createAnswer(to: SessionDescription(parsing: offer)).text
        }

        func report() -> String { "\(frames) \(lostFrames)" }
    }
}

/// Descriptions in one line each.
enum Lines {
    static func encode(_ text: String) -> String { Hex.encode(Array(text.utf8)) }

    static func decode(_ text: some StringProtocol) -> String {
        String(decoding: Hex.decode(String(text)) ?? [], as: UTF8.self)
    }

    static func write(_ line: String) {
        print(line)
        // Standard output is a pipe.
        fflushAll()
    }
}
