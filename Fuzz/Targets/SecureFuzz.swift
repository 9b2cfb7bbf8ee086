import IoTCore
import NIOCore

@testable import PeerTransport

extension FuzzTarget {
    /// No packet is accepted that was not protected with the keys, and no state is stored for it.
    static let srtp = FuzzTarget("srtp") { input in
        for profile in SRTPProfile.allCases {
            let material = [UInt8](repeating: 9, count: profile.keyingMaterialLength)
            let session = try SRTPSession(profile: profile, keyingMaterial: material, isDTLSClient: true)
            for datagram in datagrams(input) {
                var packet = datagram
                try require(session.unprotectRTP(&packet) != .success, "a forged RTP packet")
                packet = datagram
                try require(session.unprotectRTCP(&packet) != .success, "a forged RTCP packet")
            }
            try require(session.sourceCounts.incoming == 0, "a stranger's source is stored")
            // The other side can read the packet that we protect.
            let other = try SRTPSession(profile: profile, keyingMaterial: material, isDTLSClient: false)
            for datagram in datagrams(input) {
                var packet = datagram
                guard session.protectRTP(&packet) == .success else { continue }
                let result = other.unprotectRTP(&packet)
                try require(
                    result == .success && packet == datagram || result == .replayed || result == .authenticationFailed,
                    "\(result)")
            }
        }
    }

    private static let certificate = try? PeerCertificate.generate()

    /// Records of any shape cause neither traps nor datagrams that are too long; an ended session stays ended.
    static let dtls = FuzzTarget("dtls") { input in
        guard let certificate else { return }
        for role in [DTLSSession.Role.server, .client] {
            let session = try DTLSSession(
                certificate: certificate, role: role, remoteFingerprints: [certificate.fingerprint])
            session.start()
            var sent = 0
            for datagram in datagrams(input) {
                session.receive(datagram)
                while let answer = session.nextDatagram() {
                    sent += 1
                    try require(answer.readableBytes <= 1_200, "a datagram of \(answer.readableBytes) bytes")
                }
                if case .connected = session.state { throw FuzzFailure(description: "a forged handshake succeeded") }
            }
            try require(sent <= 200, "\(sent) datagrams in answer to 64")
        }
    }
}
