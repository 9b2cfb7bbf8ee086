import CReference
import Foundation
import IoTCore
import NIOCore
import NIOPosix
import PeerTransport
import RTP

/// One stream of 4 Mbit/s at 25 frames per second, encrypted to many viewers from one UDP port.
enum FanoutBenchmark {
    static let frameInterval = TimeAmount.milliseconds(40)
    static let frameBytes = 20_000
    static let codec = RTPCodec(
        payloadType: 96, encodingName: "H264", clockRate: 90_000,
        // A receiver that knows the parameter sets decodes from the first frame on.
        formatParameters: ["packetization-mode": "1", "sprop-parameter-sets": "Z0I=,aM4="])

    static func run(viewers: [Int], seconds: Int, hasCongestionControl: Bool) async throws {
        print(
            """
            Fan-out of 4 Mbit/s, \(seconds) s each, congestion control \(hasCongestionControl ? "on" : "off"). \
            Reference: EVP and sendmsg with UDP_SEGMENT from C, same bytes.

            """)
        print(
            "| viewers | CPU-s/Gbit | reference | ratio | packets/s | p99 delay, ms | kB per viewer | allocations per packet |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for count in viewers {
            try await run(viewers: count, seconds: seconds, hasCongestionControl: hasCongestionControl)
        }
        print()
    }

    private static func run(viewers count: Int, seconds: Int, hasCongestionControl: Bool) async throws {
        let child = try Child(viewers: count)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let socket = try await PeerSocket.bind(
            to: SocketAddress(ipAddress: Setting.loopback, port: 0), on: loop, logger: Setting.logger)
        let certificate = try PeerCertificate.generate()
        let memoryBefore = ProcessFacts.memory()
        let box = NIOLoopBoundBox.makeBoxSendingValue(
            Fanout(eventLoop: loop, hasCongestionControl: hasCongestionControl), eventLoop: loop)

        for index in 0..<count {
            let offer = try await loop.submit { try box.value.addPeer(socket: socket, certificate: certificate, box) }
                .get()
            let answer = try child.ask("offer \(index) \(Lines.encode(offer))")
            guard answer.count == 3 else { throw BenchmarkError("no answer") }
            let description = try SessionDescription(parsing: Lines.decode(answer[2]))
            try await loop.submit { try box.value.peers[index].setAnswer(description) }.get()
        }
        try await loop.flatSubmit { box.value.allConnected(count) }.get()

        // One second of warm-up before the measured ones.
        let warmUp = 25
        let frames = 25 * seconds
        try await loop.flatSubmit { Fanout.stream(box, frames: warmUp) }.get()
        let before = try await loop.submit { (reference_allocations(), socket.statistics.datagramsSent) }.get()
        let processBefore = reference_process_cpu()
        try await loop.flatSubmit { Fanout.stream(box, frames: frames) }.get()
        let spent = Double(reference_process_cpu() - processBefore) / 1e9
        let after = try await loop.submit {
            (reference_allocations(), socket.statistics.datagramsSent, socket.statistics.datagramsDropped)
        }.get()
        let memory = ProcessFacts.memory() - memoryBefore
        let delays = try await loop.submit { box.value.delays.sorted() }.get()
        let packets = Double(after.1 - before.1)

        try await Task.sleep(for: .milliseconds(300))
        let report = try child.ask("report").last ?? ""
        let received = try JSONDecoder().decode(ViewerReport.self, from: Data(report.utf8)).frames
        let ports = try child.ask("ports")[1].split(separator: ",").compactMap { UInt16($0) }
        let packetsAFrame = Int((packets / Double(count * frames)).rounded(.down))
        let reference = reference_fanout(
            ports, Int32(count), Int32(frames), frameInterval.nanoseconds, Int32(packetsAFrame),
            Int32(frameBytes / packetsAFrame + 28))
        await socket.close()
        child.end()

        let gigabits = Double(count * frames * frameBytes * 8) / 1e9
        let own = spent / gigabits
        let plain = Double(reference) / 1e9 / gigabits
        let expected = count * (frames + warmUp)
        let note = received >= expected && after.2 == 0 ? "" : " (only \(received) of \(expected) frames arrived)"
        let p99 = delays.isEmpty ? 0 : Double(delays[min(delays.count - 1, delays.count * 99 / 100)]) / 1e6
        print(
            "| \(count) | \(own.text(3))\(note) | \(plain.text(3)) | \((own / plain).text(2)) "
                + "| \((packets / Double(seconds)).text(0)) | \(p99.text(2)) "
                + "| \((Double(memory) / Double(count) / 1024).text(0)) "
                + "| \((Double(after.0 - before.0) / packets).text(2)) |")
    }

    /// The camera's side, confined to its event loop.
    struct Fanout {
        let eventLoop: any EventLoop
        let hasCongestionControl: Bool
        var peers: [Peer] = []
        var connected = 0
        var delays: [Int64] = []
        private var waiting: (Int, EventLoopPromise<Void>)?
        private var packetizer = Packetizer(codec: FanoutBenchmark.codec)
        private var frame = 0
        private let bytes: ByteBuffer

        init(eventLoop: any EventLoop, hasCongestionControl: Bool) {
            self.eventLoop = eventLoop
            self.hasCongestionControl = hasCongestionControl
            var bytes = ByteBuffer()
            bytes.writeInteger(UInt32(FanoutBenchmark.frameBytes - 4))
            bytes.writeInteger(UInt8(0x65))
            for place in 5..<FanoutBenchmark.frameBytes { bytes.writeInteger(UInt8(truncatingIfNeeded: place | 1)) }
            self.bytes = bytes
        }

        mutating func addPeer(
            socket: PeerSocket, certificate: PeerCertificate, _ box: NIOLoopBoundBox<Fanout>
        ) throws -> String {
            let section = MediaSection(
                mid: "video", kind: .video, direction: .sendOnly, codecs: [FanoutBenchmark.codec])
            var configuration = PeerConfiguration(hostAddresses: [], isControlling: true, sections: [section])
            configuration.congestion.isEnabled = hasCongestionControl
            let peer = try socket.makePeer(
                configuration: configuration,
                certificate: certificate
            ) { event in
                if case .stateChanged(.connected) = event { box.value.noteConnected() }
                if case .stateChanged(.failed(let error)) = event { fatalError("a viewer failed: \(error)") }
            }
            peers.append(peer)
            return try peer.createOffer().text
        }

        private mutating func noteConnected() {
            connected += 1
            if let (count, promise) = waiting, connected >= count {
                waiting = nil
                promise.succeed()
            }
        }

        mutating func allConnected(_ count: Int) -> EventLoopFuture<Void> {
            let promise = eventLoop.makePromise(of: Void.self)
            if connected >= count { promise.succeed() } else { waiting = (count, promise) }
            return promise.futureResult
        }

        mutating func sendFrame() throws {
            let pts = Int64(frame) * 40_000
            frame += 1
            let packets = try packetizer.packetize(
                MediaFrame(kind: .video, isKeyFrame: true, pts: pts, dts: pts, bytes: bytes))
            for peer in peers { peer.send(packets, mid: "video") }
        }

        /// Sends a frame each interval. A frame's delay is the time from when it is due until the last viewer's packets
        /// are in the kernel: the socket flushes once at the end of this turn of the loop.
        static func stream(_ box: NIOLoopBoundBox<Fanout>, frames: Int) -> EventLoopFuture<Void> {
            let loop = box.value.eventLoop
            let promise = loop.makePromise(of: Void.self)
            box.value.delays = []
            box.value.delays.reserveCapacity(frames)
            tick(box, left: frames, due: .now(), promise)
            return promise.futureResult
        }

        private static func tick(
            _ box: NIOLoopBoundBox<Fanout>, left: Int, due: NIODeadline, _ promise: EventLoopPromise<Void>
        ) {
            guard left > 0 else { return promise.succeed() }
            do {
                try box.value.sendFrame()
            } catch {
                return promise.fail(error)
            }
            let loop = box.value.eventLoop
            loop.execute { box.value.delays.append((NIODeadline.now() - due).nanoseconds) }
            let next = due + FanoutBenchmark.frameInterval
            loop.scheduleTask(deadline: next) { tick(box, left: left - 1, due: next, promise) }
        }
    }
}
