import CReference
import IoTCore
import NIOCore
import NIOPosix
import PeerTransport

/// The time from the offer until both sides are connected, over real sockets on the loopback interface.
enum ConnectBenchmark {
    static func run() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let address = try SocketAddress(ipAddress: Setting.loopback, port: 0)
        let sockets = [
            try await PeerSocket.bind(to: address, on: loop, logger: Setting.logger),
            try await PeerSocket.bind(to: address, on: loop, logger: Setting.logger),
        ]
        let certificate = try PeerCertificate.generate()
        var times: [Double] = []
        for _ in 0..<200 {
            let start = NIODeadline.now()
            let section = MediaSection(
                mid: "video", kind: .video, direction: .sendOnly, codecs: [FanoutBenchmark.codec])
            try await loop.flatSubmit {
                let all = (0...1).map { _ in loop.makePromise(of: Void.self) }
                do {
                    let peers = try (0...1).map { index in
                        try sockets[index].makePeer(
                            configuration: PeerConfiguration(
                                hostAddresses: [], isControlling: index == 0, sections: index == 0 ? [section] : []),
                            certificate: certificate
                        ) { event in
                            guard case .stateChanged(let state) = event else { return }
                            switch state {
                            case .connected: all[index].succeed()
                            case .failed(let error): all[index].fail(error)
                            default: break
                            }
                        }
                    }
                    try peers[0].setAnswer(try peers[1].createAnswer(to: try peers[0].createOffer()))
                    let result = EventLoopFuture.andAllSucceed(all.map(\.futureResult), on: loop)
                    let box = NIOLoopBound(peers, eventLoop: loop)
                    result.whenComplete { _ in for peer in box.value { peer.close() } }
                    return result
                } catch {
                    for promise in all { promise.fail(error) }
                    return loop.makeFailedFuture(error)
                }
            }.get()
            times.append(Double((NIODeadline.now() - start).nanoseconds) / 1e6)
        }
        for socket in sockets { await socket.close() }
        times.sort()
        let start = NIODeadline.now()
        _ = reference_handshake(50)
        let reference = Double((NIODeadline.now() - start).nanoseconds) / 1e6 / 50
        print("| connect over loopback | p50, ms | p95, ms |\n| --- | --- | --- |")
        print(
            "| offer to both connected | \(times[times.count / 2].text(2)) | \(times[times.count * 95 / 100].text(2)) |"
        )
        print("| reference: DTLS handshake in C, in memory | \(reference.text(2)) | |\n")
    }
}
