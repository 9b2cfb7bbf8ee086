import IoTCore
import NIOCore
import Testing

@testable import PeerTransport

@Suite struct ICECandidateTests {
    @Test("A browser's candidate is parsed, and its extensions are ignored")
    func readsBrowserCandidate() throws {
        let text =
            "candidate:842163049 1 udp 1677729535 203.0.113.4 46154 typ srflx raddr 10.0.0.1 rport 46154 "
            + "generation 0 ufrag yw/B network-cost 999"
        let candidate = try #require(try ICECandidate(parsing: text))
        #expect(candidate.foundation == "842163049")
        #expect(candidate.priority == 1_677_729_535)
        #expect(candidate.kind == .serverReflexive)
        #expect(try candidate.address == SocketAddress(ipAddress: "203.0.113.4", port: 46154))
    }

    @Test("A written candidate is parsed back, IPv6 included")
    func roundTrip() throws {
        for address in ["192.0.2.1", "2001:db8::1"] {
            let candidate = ICECandidate(
                foundation: "1", priority: ICECandidate.priority(.host, localPreference: 65535),
                address: try SocketAddress(ipAddress: address, port: 5000), kind: .host)
            #expect(try ICECandidate(parsing: candidate.text) == candidate)
            #expect(try ICECandidate(parsing: "a=" + candidate.text) == candidate)
        }
    }

    @Test("A browser's hidden address is parsed and written as a name")
    func readsName() throws {
        let text = "candidate:1 1 udp 2113937151 6F5B0A2E-1f7c-4d2a-b7a1-5b1f8c5d3e0f.local 5000 typ host ufrag abcd"
        let candidate = try #require(try ICECandidate(parsing: text))
        #expect(candidate.name == "6f5b0a2e-1f7c-4d2a-b7a1-5b1f8c5d3e0f.local")
        #expect(candidate.address.port == 5000)
        #expect(!candidate.address.isReachableUnicast)
        #expect(candidate.ufrag == "abcd")
        #expect(candidate.text.contains(" 6f5b0a2e-1f7c-4d2a-b7a1-5b1f8c5d3e0f.local 5000 typ host"))
    }

    @Test("A reflexive candidate carries its base, and a host candidate none")
    func related() throws {
        var candidate = ICECandidate(
            foundation: "s04", priority: 1, address: try SocketAddress(ipAddress: "198.51.100.1", port: 6),
            kind: .serverReflexive)
        candidate.related = try SocketAddress(ipAddress: "10.0.0.2", port: 7)
        #expect(candidate.text == "candidate:s04 1 udp 1 198.51.100.1 6 typ srflx raddr 10.0.0.2 rport 7")
        #expect(try ICECandidate(parsing: candidate.text) == candidate)
        candidate.kind = .host
        #expect(!candidate.text.contains("raddr"))
    }

    @Test("The priority follows RFC 8445 §5.1.2.1")
    func priority() {
        #expect(ICECandidate.priority(.host, localPreference: 65535) == 2_130_706_431)
    }

    @Test(
        "Unusable candidates are ignored without an error",
        arguments: [
            "candidate:1 1 udp 1 host.example.org 5000 typ host",
            "candidate:1 1 udp 1 printer.office.local 5000 typ host",
            "candidate:1 1 udp 1 .local 5000 typ host",
            "candidate:1 2 udp 1 192.0.2.1 5000 typ host",
            "candidate:1 1 tcp 1 192.0.2.1 9 typ host tcptype active",
            "candidate:1 1 udp 1 224.0.0.1 5000 typ host",
            "candidate:1 1 udp 1 192.0.2.1 0 typ host",
            "candidate:1 1 udp 1 192.0.2.1 5000 typ future",
        ])
    func ignored(text: String) throws {
        #expect(try ICECandidate(parsing: text) == nil)
    }

    @Test(
        "A malformed candidate throws sessionDescriptionInvalid",
        arguments: [
            "", "candidate:", "candidate:1 1 udp", "candidate:1 1 udp x 192.0.2.1 5000 typ host",
            "candidate:1 1 udp 1 192.0.2.1 99999 typ host", "candidate:1 0 udp 1 192.0.2.1 5000 typ host",
            "candidate:1 1 udp 1 192.0.2.1 5000 host typ", "candidate:1 1 udp 4294967296 192.0.2.1 5 typ host",
            "candidate:" + String(repeating: "1", count: 2000),
        ])
    func damaged(text: String) {
        #expect { try ICECandidate(parsing: text) } throws: { error in
            (error as? IoTError)?.code == .sessionDescriptionInvalid
        }
    }
}
