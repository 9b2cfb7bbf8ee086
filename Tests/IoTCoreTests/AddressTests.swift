import IoTCore
import Testing

@Suite struct AddressTests {
    @Test(
        "Parsing and printing a host and a port gives the same text",
        arguments: ["127.0.0.1:0", "[::1]:9000", "box.example:65535", "[fe80::1%eth0]:1"])
    func hostAndPort(text: String) throws {
        #expect(try #require(HostPort(text)).description == text)
    }

    @Test(
        "Text that is not one host and one port is refused",
        arguments: ["", "127.0.0.1", "::1:5", "h:65536", "h:-1", "h:", "[::1]", "[127.0.0.1]:5", "[::1:5"])
    func noHostAndPort(text: String) {
        #expect(HostPort(text) == nil)
    }

    @Test("Brackets are not part of the host")
    func brackets() {
        #expect(HostPort("[::1]:9000") == HostPort(host: "::1", port: 9000))
    }

    @Test(
        "Only literals are addresses",
        arguments: [
            ("192.0.2.1", true), ("::1", true), ("2001:db8::7", true), ("192.0.2.300", false), ("192.0.2", false),
            ("box.example", false), ("[::1]", false), ("", false),
        ])
    func addresses(text: String, isAddress: Bool) {
        #expect(IPAddress.isValid(text) == isAddress)
    }

    @Test(
        "A host name has letters, digits and hyphens, or is an address",
        arguments: [
            ("box", true), ("Box-1.example", true), ("192.0.2.1", true), ("::1", true), ("1.example", true),
            ("192.0.2.300", false), ("a b", false), ("-a", false), ("a-", false), ("a..b", false), ("a.", false),
            ("", false), ("ü.example", false), (String(repeating: "a", count: 64), false),
        ])
    func hostNames(text: String, isName: Bool) {
        #expect(HostName.isValid(text) == isName)
    }
}
