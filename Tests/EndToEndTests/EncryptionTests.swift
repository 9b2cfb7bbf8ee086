import Foundation
import TestSupport
import Testing

/// The all-in-one daemon's channel, captured from the network.
@Suite(.serialized, .timeLimit(.minutes(3))) struct EncryptionTests {
    @Test("A capture of a channel contains DTLS and SRTP, and no plaintext of the pictures")
    func capture() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("bunny-h264-aac51.mp4")])
        let file = daemon.folder.path("capture.pcap")
        // The daemon is ready before its camera has opened its port.
        try await eventually("the camera's port and the gateway's") { daemon.udpPorts.count == 2 }
        let ports = daemon.udpPorts
        let filter = "udp and (" + ports.map { "port \($0)" }.joined(separator: " or ") + ")"
        let tcpdump = Process()
        tcpdump.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        tcpdump.arguments = ["tcpdump", "-i", "lo", "-U", "-s", "0", "-w", file, filter]
        tcpdump.environment = ProcessInfo.processInfo.environment.merging(
            ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]) { $1 }
        tcpdump.standardError = FileHandle.nullDevice
        tcpdump.standardInput = FileHandle.nullDevice
        try tcpdump.start()
        try await eventually("the capture's file") { FileManager.default.fileExists(atPath: file) }
        let watched = try await daemon.iotctl("monitor", "front", "--frames", "150")
        #expect(watched.status == 0, "\(watched.errors)")
        // SIGKILL, because a child of a dispatch thread inherits SIGTERM blocked. With `-U` the file is complete.
        kill(tcpdump.processIdentifier, SIGKILL)
        await daemon.stop()

        let handshake = try await tshark(file, filter: "dtls.handshake.type", fields: ["dtls.handshake.type"])
        #expect(Set(handshake.flatMap { $0.split(separator: ",") }).isSuperset(of: ["1", "2", "11", "14"]))
        let profiles = try await tshark(
            file, filter: "dtls.handshake.type == 2", fields: ["dtls.use_srtp.protection_profile"])
        #expect(profiles.contains("0x0007"), "AEAD_AES_128_GCM was not chosen: \(profiles)")

        // RFC 7983 §7: the first byte is 128…191 for SRTP and SRTCP, 20…63 for DTLS, 0…3 for STUN. Nothing else occurs.
        let firstBytes = try await tshark(file, filter: "udp.port", fields: ["udp.payload"]).compactMap {
            UInt8($0.replacingOccurrences(of: ":", with: "").prefix(2), radix: 16)
        }
        let media = firstBytes.filter { (128...191).contains($0) }
        #expect(media.count > 150)
        #expect(firstBytes.allSatisfy { (128...191).contains($0) || (20...63).contains($0) || $0 <= 3 })

        let captured = try Data(contentsOf: URL(fileURLWithPath: file))
        let clip = try Data(contentsOf: URL(fileURLWithPath: Product.sample("bunny-h264-aac51.mp4")))
        // Pieces from all parts of the clip's media data: one of them in the capture would be plaintext.
        for offset in stride(from: clip.count / 10, to: clip.count - 64, by: clip.count / 400) {
            #expect(captured.range(of: clip[offset..<offset + 24]) == nil, "plaintext of offset \(offset)")
        }
    }

    private func tshark(_ file: String, filter: String, fields: [String]) async throws -> [String] {
        let outcome = try await Program.named(
            "tshark", ["-r", file, "-Y", filter, "-T", "fields"] + fields.flatMap { ["-e", $0] }
        ).run()
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.split(separator: "\n").map(String.init)
    }
}
