import Testing

@testable import PeerTransport

@Suite struct CRC32Tests {
    @Test("The check value of the algorithm's registered description matches")
    func checkValue() {
        #expect(CRC32.checksum("123456789".utf8) == 0xCBF4_3926)
        #expect(CRC32.checksum([]) == 0)
    }
}
