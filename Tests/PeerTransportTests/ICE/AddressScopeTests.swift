import NIOCore
import Testing

@testable import PeerTransport

@Suite struct AddressScopeTests {
    @Test(
        "This machine and its link are recognised in every address form",
        arguments: [
            "127.0.0.1", "127.255.0.9", "0.0.0.0", "0.1.2.3", "169.254.169.254", "224.0.0.251", "240.0.0.1",
            "255.255.255.255", "::", "::1", "fe80::1", "fec0::1", "ff02::fb", "::ffff:127.0.0.1", "::ffff:169.254.1.1",
            "::ffff:0.0.0.0", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::a9fe:101",
            "64:ff9b:1::7f00:1", "64:ff9b:1:7f00:0:100::", "2002:7f00:1::", "2002:a9fe:101::1",
            "2001:0:7f00:1::", "2001:0:c000:201::80ff:fffe",
        ])
    func local(text: String) throws {
        #expect(try SocketAddress(ipAddress: text, port: 3478).isThisMachineOrLink)
    }

    @Test(
        "Others may name all other addresses",
        arguments: [
            "192.0.2.1", "10.0.0.1", "192.168.1.1", "100.64.0.1", "2001:db8::1", "fd00::1", "::ffff:192.0.2.1",
            "64:ff9b::192.0.2.1", "2002:c000:201::1",
        ])
    func elsewhere(text: String) throws {
        #expect(try !SocketAddress(ipAddress: text, port: 3478).isThisMachineOrLink)
    }

    @Test("An IPv4 address in IPv6 form is not a candidate")
    func candidates() throws {
        for text in ["::ffff:192.0.2.1", "::ffff:224.0.0.1", "::192.0.2.1", "::ffff:127.0.0.1"] {
            #expect(try ICECandidate(parsing: "candidate:1 1 udp 1 \(text) 5 typ host") == nil)
        }
        #expect(try ICECandidate(parsing: "candidate:1 1 udp 1 ::1 5 typ host") != nil)
    }

    private func gatherer(_ url: String, refusesLocal: Bool) throws -> ICEGatherer {
        var configuration = ICEConfiguration()
        configuration.servers = [try ICEServer(urls: [url], username: "user", credential: "secret")]
        configuration.refusesLocalServers = refusesLocal
        return ICEGatherer(configuration: configuration, generator: SystemRandomNumberGenerator())
    }

    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    /// The addresses that the gatherer sends to and opens links to.
    private func contacted(_ gatherer: inout ICEGatherer) -> [SocketAddress] {
        var addresses: [SocketAddress] = []
        while let output = gatherer.poll() {
            switch output {
            case .transmit(_, let address): addresses.append(address)
            case .request(.open(_, let endpoint)): addresses.append(endpoint.address)
            default: break
            }
        }
        return addresses
    }

    @Test(
        "A server that a stranger names is not contacted on this machine, by address or by name",
        arguments: ["127.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "169.254.169.254", "0.0.0.0"])
    func namedServers(text: String) throws {
        for url in ["stun:", "turn:"] {
            let host = text.contains(":") ? "[\(text)]" : text
            var direct = try gatherer("\(url)\(host)", refusesLocal: true)
            direct.start(hasIPv4: true, hasIPv6: true, at: start)
            #expect(contacted(&direct).isEmpty)
            var named = try gatherer("\(url)camera.example", refusesLocal: true)
            named.start(hasIPv4: true, hasIPv6: true, at: start)
            _ = contacted(&named)
            _ = named.resolved(
                "camera.example",
                to: [try SocketAddress(ipAddress: text, port: 0), try SocketAddress(ipAddress: "192.0.2.7", port: 0)],
                at: start)
            let asked = contacted(&named)
            #expect(!asked.isEmpty && asked.allSatisfy { $0.ipAddress == "192.0.2.7" })
        }
    }

    @Test(
        "A redirect to this machine or its link is not followed, whoever named the server",
        arguments: [true, false], ["127.0.0.1", "169.254.169.254", "::1", "64:ff9b::7f00:1", "192.0.2.8"])
    func redirections(refusesLocal: Bool, text: String) throws {
        var gatherer = try gatherer("turn:192.0.2.7?transport=tcp", refusesLocal: refusesLocal)
        gatherer.start(hasIPv4: true, hasIPv6: true, at: start)
        #expect(contacted(&gatherer).count == 1)
        gatherer.linkOpened(0, at: start)
        var request: STUNMessage?
        while let output = gatherer.poll() {
            if case .request(.send(let bytes, link: 0)) = output { request = try STUNMessage(parsing: bytes) }
        }
        let other = try SocketAddress(ipAddress: text, port: 3479)
        let answer = STUNMessage(
            .errorResponse, method: STUNMessage.allocateMethod, transactionID: try #require(request).transactionID,
            attributes: [.errorCode(300, reason: "Try Alternate"), .alternateServer(other)])
        gatherer.linkReceived(0, answer.datagram(), at: start)
        #expect(contacted(&gatherer) == (text == "192.0.2.8" ? [other] : []))
    }
}
