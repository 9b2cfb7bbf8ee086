import CReference
import NIOCore
import PeerTransport

/// CPU time to protect one packet of 1200 bytes, and the time of the same ciphers called from C without SRTP.
enum SRTPBenchmark {
    static func run() throws {
        print("| protect 1200 bytes | SRTPSession, µs | EVP alone, µs | ratio |\n| --- | --- | --- | --- |")
        for (place, profile) in SRTPProfile.allCases.enumerated() {
            let material = [UInt8](repeating: 7, count: profile.keyingMaterialLength)
            let session = try SRTPSession(profile: profile, keyingMaterial: material, isDTLSClient: true)
            var packet = ByteBuffer()
            packet.reserveCapacity(1400)
            let rounds = 200_000
            let start = reference_thread_cpu()
            for round in 0..<rounds {
                packet.clear()
                packet.writeRepeatingByte(0, count: 1200)
                packet.setInteger(UInt32(0x8060_0000) | UInt32(round & 0xFFFF), at: 0)
                guard session.protectRTP(&packet) == .success else { fatalError("a packet was refused") }
            }
            let own = Double(reference_thread_cpu() - start) / Double(rounds) / 1000
            let reference = reference_seal(Int32(place), Int32(rounds)) / 1000
            print("| \(profile.openSSLName) | \(own.text(2)) | \(reference.text(2)) | \((own / reference).text(2)) |")
        }
        print()
    }
}

extension Double {
    /// The number as text with a fixed number of decimals.
    func text(_ decimals: Int) -> String {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let value = (magnitude * scale).rounded()
        guard value.isFinite, value < 1e15 else { return "\(self)" }
        let whole = Int(value / scale)
        let sign = self < 0 && value > 0 ? "-" : ""
        guard decimals > 0 else { return "\(sign)\(whole)" }
        let rest = String(Int(value) - whole * Int(scale))
        return "\(sign)\(whole)." + String(repeating: "0", count: decimals - rest.count) + rest
    }
}
