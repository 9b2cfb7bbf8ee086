import Glibc
import IoTCore
import Testing

@testable import LinkHub

@Suite("Ports in use by others")
struct PortTests {
    /// In the form of Linux 6.1: 127.0.0.1:1883 listening, a connection, and ::1:8080.
    private static let table4 = """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 0100007F:075B 00000000:0000 0A 00000000:00000000 00:00000000 00000000   108        0 23521 1 0000 100 0 0
           1: 0100007F:1F90 0100007F:A3E2 01 00000000:00000000 00:00000000 00000000     0        0 23522 1 0000 20 4 30
          damaged

        """
    private static let table6 = """
          sl  local_address                         remote_address                        st tx_queue rx_queue tr
           0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0:0 00:0 0 1000 0 7 1 0
           1: 0000000000000000FFFF00000200007F:0050 00000000000000000000000000000000:0000 0A 0:0 00:0 0 1000 0 8 1 0

        """

    @Test("The kernel's table shows who listens where")
    func table() throws {
        let table = SocketTable(parsing: Self.table4)
        #expect(table.entries.count == 2)
        let broker = try #require(table.holder(of: [127, 0, 0, 1], port: 1883, mustListen: true))
        #expect(broker.user == 108 && broker.inode == 23521)
        #expect(
            table.holder(of: [0, 0, 0, 0], port: 1883, mustListen: true) == broker, "every address includes this one")
        #expect(table.holder(of: [127, 0, 0, 2], port: 1883, mustListen: true) == nil, "another address")
        #expect(table.holder(of: [127, 0, 0, 1], port: 8080, mustListen: true) == nil, "a connection does not listen")
        let other = SocketTable(parsing: Self.table6)
        let loopback = [UInt8](repeating: 0, count: 15) + [1]
        #expect(other.holder(of: loopback, port: 8080, mustListen: true)?.inode == 7)
        #expect(other.holder(of: [127, 0, 0, 2], port: 80, mustListen: true)?.inode == 8, "IPv4 within IPv6")
        #expect(SocketTable(parsing: "").entries.isEmpty)
    }

    @Test("A port of this process is found, and reported with key, port, holder and remedy")
    func ownPort() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        try #require(listen(descriptor, 1) == 0)
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        let port = Int(UInt16(bigEndian: address.sin_port))
        let holder = try #require(PortHolder.find(.tcp, host: "127.0.0.1", port: port))
        #expect(holder.process == getpid())
        #expect(holder.name == PortHolder.name(of: getpid()))
        #expect(PortHolder.find(.udp, host: "127.0.0.1", port: port)?.process != getpid())

        let error = ListenFailure.error("api.listen", .tcp, host: "127.0.0.1", port: port, reason: EADDRINUSE)
        #expect(error.code == .addressInUse)
        #expect(error.message == "api.listen: TCP port \(port) of 127.0.0.1 is in use by \(holder)")
        #expect(error.remedy == "stop that program, or set api.listen to another port")
    }

    @Test("Debian's mosquitto service is named with the command that stops it, even if its files cannot be read")
    func mosquitto() {
        let hidden = PortHolder(process: nil, name: nil, account: "mosquitto")
        let error = ListenFailure.inUse("hub.listen", place: "TCP port 1883 of 127.0.0.1", holder: hidden)
        #expect(error.message.hasSuffix("is in use by a process of the account 'mosquitto'"))
        #expect(error.remedy.contains("systemctl disable --now mosquitto"))
    }

    @Test("Missing rights and addresses are reported as the reason")
    func otherReasons() {
        let rights = ListenFailure.error("api.listen", .tcp, host: "0.0.0.0", port: 443, reason: EACCES)
        #expect(rights.code == .invalidConfiguration && rights.remedy.contains("CAP_NET_BIND_SERVICE"))
        let address = ListenFailure.error("media.listen", .udp, host: "192.0.2.1", port: 9, reason: EADDRNOTAVAIL)
        #expect(address.message == "media.listen: this machine has no address 192.0.2.1")
    }
}
