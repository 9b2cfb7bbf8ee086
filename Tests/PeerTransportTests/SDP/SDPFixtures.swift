import Foundation
import Testing

@testable import PeerTransport

/// Descriptions from real software; see Fixtures/README.md.
enum SDPFixtures {
    static let names = [
        "chromium-offer-recvonly", "chromium-offer-sendrecv", "aiortc-offer-sendrecv", "gstreamer-offer-sendrecv",
    ]

    static func text(_ name: String) throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appendingPathComponent("Fixtures/\(name).sdp")
        return String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    static func offer(_ name: String) throws -> SessionDescription {
        try SessionDescription(parsing: text(name))
    }
}
