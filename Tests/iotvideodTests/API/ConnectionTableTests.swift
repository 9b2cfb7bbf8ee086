import IoTCore
import NIOCore
import Testing

@testable import Gateway
@testable import iotvideod

@Suite struct ConnectionTableTests {
    private func address(_ text: String) throws -> RemoteAddress {
        RemoteAddress(try SocketAddress(ipAddress: text, port: 1))
    }

    @Test("Who opens more than its part ends its own oldest silent connection, and nobody else's")
    func flood() throws {
        var table = ConnectionTable<Int>(QuotaBound(total: 10, each: 4))
        let (flooder, other) = (try address("192.0.2.1"), try address("192.0.2.2"))
        #expect(table.admit(0, from: other) == .admitted)
        for id in 1...4 { #expect(table.admit(id, from: flooder) == .admitted) }
        for id in 5...1000 { #expect(table.admit(id, from: flooder) == .inPlaceOf(id - 4)) }
        #expect(table.count == 5)
    }

    @Test("When all is full, the newest takes the place of the oldest of who has most")
    func full() throws {
        var table = ConnectionTable<Int>(QuotaBound(total: 10, each: 8))
        let (many, few, new) = (try address("192.0.2.1"), try address("192.0.2.2"), try address("192.0.2.3"))
        for id in 0..<2 { #expect(table.admit(id, from: few) == .admitted) }
        for id in 2..<10 { #expect(table.admit(id, from: many) == .admitted) }
        #expect(table.admit(10, from: new) == .inPlaceOf(2))
        #expect(table.admit(11, from: new) == .inPlaceOf(3))
    }

    @Test("A request under way is not ended for a newer connection")
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

    @Test("An address is a party: all of this machine, a /64 of IPv6, an IPv4 address however it is written")
    func parties() throws {
        #expect(try address("127.0.0.1") == address("127.9.8.7"))
        #expect(try address("::ffff:192.0.2.1") == address("192.0.2.1"))
        #expect(try address("2001:db8::1") == address("2001:db8::ffff:0:1"))
        #expect(try address("2001:db8::1") != address("2001:db8:0:1::1"))
        #expect(try address("192.0.2.1") != address("192.0.2.2"))
        #expect(RemoteAddress(nil) == .local)
    }
}
