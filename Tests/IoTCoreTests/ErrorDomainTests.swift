import IoTCore
import Testing

@Suite struct ErrorDomainTests {
    @Test("The ranges are those of the guide's table, in order, and do not overlap")
    func ranges() {
        #expect(
            ErrorDomain.all.map(\.range) == [
                8000...8499, 8500...8699, 8799...9999, 10000...10999, 11000...11999, 12000...12999, 13000...13999,
                14000...14999, 15000...15999, 16000...16999, 17000...17999, 20000...20999, 21000...21999, 22000...22999,
                23000...23999, 24000...24999, 25000...25999,
            ])
        #expect(Set(ErrorDomain.all.map(\.name)).count == ErrorDomain.all.count)
    }

    @Test(
        "A number has the domain of its range, and none between the ranges",
        arguments: [
            (8000, "accessServer"), (8499, "accessServer"), (8605, "controlServer"), (8700, nil), (8798, nil),
            (8799, "reserved"), (14000, "storage"), (18000, nil), (20151, "peerToPeer"), (21105, "client"),
            (25089, "iotvideod"), (26000, nil), (0, nil), (-1, nil),
        ])
    func domain(number: Int, name: String?) {
        #expect(ErrorCode(rawValue: number).domain?.name == name)
    }

    @Test("Every number of the catalogue belongs to somebody")
    func complete() {
        for entry in ErrorCatalogue.entries { #expect(entry.code.domain != nil, "\(entry.code.rawValue)") }
    }
}
