import IoTCore
import NIOCore
import Testing

@testable import Gateway
@testable import iotvideod

@Suite struct ConnectionTableTests {
    private func address(_ text: String) throws -> RemoteAddress {
        RemoteAddress(try SocketAddress(ipAddress: text, port: 1))
    }

    @Test("A client above its share loses its own oldest silent connection, and no other client loses one")
    func flood() throws {
        var table = ConnectionTable<Int>(QuotaBound(total: 10, each: 4))
        let (flooder, other) = (try address("192.0.2.1"), try address("192.0.2.2"))
        #expect(table.admit(0, from: other) == .admitted)
        for id in 1...4 { #expect(table.admit(id, from: flooder) == .admitted) }
        for id in 5...1000 { #expect(table.admit(id, from: flooder) == .inPlaceOf(id - 4)) }
        #expect(table.count == 5)
    }

    @Test("When the table is full, a new connection replaces the oldest of the client with the most")
    func full() throws {
        var table = ConnectionTable<Int>(QuotaBound(total: 10, each: 8))
        let (many, few, new) = (try address("192.0.2.1"), try address("192.0.2.2"), try address("192.0.2.3"))
        for id in 0..<2 { #expect(table.admit(id, from: few) == .admitted) }
        for id in 2..<10 { #expect(table.admit(id, from: many) == .admitted) }
        #expect(table.admit(10, from: new) == .inPlaceOf(2))
        #expect(table.admit(11, from: new) == .inPlaceOf(3))
    }

    @Test("A connection with a request in progress is not closed for a newer one")
    func served() throws {
        var table = ConnectionTable<Int>(QuotaBound(total: 3, each: 3))
        let (one, other) = (try address("192.0.2.1"), try address("192.0.2.2"))
        for id in 0..<3 {
            #expect(table.admit(id, from: one) == .admitted)
            table.serve(id)
        }
        #expect(table.admit(3, from: one) == .refused)
        #expect(table.admit(4, from: other) == .refused)
        table.wait(1)
        #expect(table.admit(5, from: other) == .inPlaceOf(1))
        table.remove(0)
        #expect(table.admit(6, from: one) == .admitted)
        #expect(table.count == 3)
    }

    @Test("One client is: this machine's loopback, a /64 of IPv6, or an IPv4 address in any notation")
    func parties() throws {
        #expect(try address("127.0.0.1") == address("127.9.8.7"))
        #expect(try address("::ffff:192.0.2.1") == address("192.0.2.1"))
        #expect(try address("2001:db8::1") == address("2001:db8::ffff:0:1"))
        #expect(try address("2001:db8::1") != address("2001:db8:0:1::1"))
        #expect(try address("192.0.2.1") != address("192.0.2.2"))
        #expect(RemoteAddress(nil) == .local)
    }
}
