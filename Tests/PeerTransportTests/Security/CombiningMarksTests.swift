import Glibc
import IoTCore
import NIOCore
import Testing

@testable import PeerTransport

/// Swift compares and hashes strings canonically, in quadratic time for a run of combining marks. No input from a
/// stranger may cause that.
@Suite struct CombiningMarksTests {
    /// Two alternating marks of different classes, so that each run must be reordered.
    private func marks(byteCount: Int) -> String {
        String(repeating: "\u{0316}\u{0301}", count: byteCount / 4)
    }

    /// The thread's CPU time in seconds; quadratic work takes many times as long.
    private func seconds(_ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        try body()
        return now() - start
    }

    @Test("A description of combining marks is parsed or refused in linear time")
    func descriptions() throws {
        let offer = try SessionDescriptionTests.offer().text
        let long = marks(byteCount: 60_000)
        let lines = [
            "s=\(long)", "o=- \(long) 1 IN IP4 0.0.0.0", "a=\(long)", "a=mid:\(long)", "a=ice-ufrag:\(long)",
            "a=ice-pwd:\(long)", "a=setup:active\(long)", "a=group:BUNDLE \(long)", "a=rtpmap:96 H264\(long)/90000",
            "a=fmtp:96 \(long)=1", "a=rtcp-fb:96 nack\(long)", "a=rtcp-fb:\(long) nack", "a=extmap:1 urn:\(long)",
            "a=msid:\(long)", "a=ssrc:1234 cname:\(long)", "a=fingerprint:sha-256\(long) 00",
            "a=candidate:1 1 udp 1 a\(long).local 5 typ host", "m=video\(long) 9 UDP/TLS/RTP/SAVPF 96", "\(long)=v",
        ]
        let taken = seconds {
            for line in lines {
                for text in ["\(line)\r\n\(offer)", "\(offer)\(line)\r\n", offer.replacing("s=-", with: line)] {
                    _ = try? SessionDescription(parsing: text)
                }
            }
        }
        #expect(taken < 2, "took \(taken) s")
    }

    @Test("An ICE user name in a check or in a candidate is compared as bytes")
    func userNames() throws {
        var network = try ICENetwork.pair(seed: 301)
        network.exchangeCredentials()
        var agent = network.hosts[0].agent
        let source = network.hosts[1].addresses[0]
        let name = "\(agent.credentials.ufrag)\(marks(byteCount: 60_000)):x"
        let datagram = STUNMessage(
            .request, transactionID: STUNTransactionID(high: 1, low: 1), attributes: [.username(STUNText(name))]
        ).datagram(key: agent.credentials.key)
        let candidate = "candidate:1 1 udp 1 192.0.2.1 5 typ host ufrag \(marks(byteCount: 900))"
        let taken = seconds {
            for _ in 0..<20 {
                let isOurs = agent.receive(datagram, from: source, at: network.now)
                #expect(!isOurs)
                #expect(throws: IoTError.self) { try ICECandidate(parsing: candidate) }
            }
        }
        #expect(taken < 1, "took \(taken) s")
        #expect(STUNText("e\u{301}") != STUNText("\u{E9}"))
    }

    @Test("A TURN server's realm is compared as bytes")
    func realms() throws {
        let realm = STUNText("r" + marks(byteCount: 740))
        var credential = LongTermCredential(username: "user", password: "secret")
        let challenge = STUNMessage(
            .errorResponse, method: STUNMessage.allocateMethod, transactionID: STUNTransactionID(high: 1, low: 1),
            attributes: [.errorCode(401, reason: ""), .realm(realm), .nonce([1])])
        let isTaken = credential.takeChallenge(challenge)
        #expect(isTaken && credential.realm == realm)
    }

    @Test("Names from multicast DNS that are not ASCII match no query")
    func multicastNames() {
        var datagram = ByteBuffer()
        datagram.writeMultipleIntegers(UInt16(0), UInt16(0x8400), UInt16(0), UInt16(2), UInt16(0), UInt16(0))
        for label in ["e\u{301}", "host"] {
            for part in [label, "local"] {
                datagram.writeInteger(UInt8(part.utf8.count))
                datagram.writeString(part)
            }
            datagram.writeInteger(UInt8(0))
            datagram.writeMultipleIntegers(UInt16(1), UInt16(1), UInt32(120), UInt16(4))
            datagram.writeBytes([192, 0, 2, 1])
        }
        #expect(MDNSMessage.addresses(in: datagram).map(\.name) == ["host.local"])
    }
}
