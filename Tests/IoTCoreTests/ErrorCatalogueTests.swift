import IoTCore
import Testing

@Suite struct ErrorCatalogueTests {
    // The numbers in the tables of the IoT video SDK guide (link, terminals, messages, connections, players) and in the
    // SDK's public headers.
    static let published: [ClosedRange<Int>] = [
        8000...8000, 8002...8003, 8022...8024, 8605...8605, 20001...20018, 20100...20105, 20135...20138, 20140...20143,
        20145...20145, 21000...21008, 21020...21026, 21030...21041, 21060...21065, 21070...21072, 21080...21084,
        21100...21103,
    ]

    @Test("The catalogue has every published number")
    func complete() {
        for number in Self.published.flatMap(Array.init) {
            #expect(ErrorCatalogue.entry(ErrorCode(rawValue: number)) != nil, "\(number)")
        }
    }

    @Test("All other numbers are ours, 25000 to 25999")
    func ownRange() {
        let published = Set(Self.published.flatMap(Array.init))
        for entry in ErrorCatalogue.entries where !published.contains(entry.code.rawValue) {
            #expect((25000...25999).contains(entry.code.rawValue), "\(entry.code.rawValue)")
        }
    }

    @Test("Numbers and names are unique, and the list is in ascending order")
    func unique() {
        let numbers = ErrorCatalogue.entries.map(\.code)
        #expect(Set(numbers).count == numbers.count)
        #expect(Set(ErrorCatalogue.entries.map(\.name)).count == numbers.count)
        #expect(numbers == numbers.sorted())
    }

    @Test(
        "Every entry has a lower-camel-case name, a message and a remedy, without a full stop",
        arguments: ErrorCatalogue.entries.map(\.code))
    func wellFormed(code: ErrorCode) throws {
        let entry = try #require(ErrorCatalogue.entry(code))
        #expect(entry.name.first?.isLowercase == true)
        #expect(entry.name.utf8.allSatisfy { byte in (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) })
        #expect(!entry.message.isEmpty)
        #expect(!entry.remedy.isEmpty)
        #expect(!entry.message.hasSuffix("."))
        #expect(ErrorCatalogue.entry(named: entry.name)?.code == code)
        #expect(code.name == entry.name)
    }

    @Test("Numbers outside the catalogue still have a name")
    func outside() {
        #expect(ErrorCode.success.name == "success")
        #expect(ErrorCode(rawValue: 20151).name == "customerDefined")
        #expect(ErrorCode(rawValue: 20199).name == "customerDefined")
        #expect(ErrorCode(rawValue: 31337).name == "unknown")
        #expect(!ErrorCode(rawValue: 31337).message.isEmpty)
        #expect(!ErrorCode(rawValue: 31337).remedy.isEmpty)
    }

    @Test("The catalogue's remedy applies, unless the error has its own")
    func remedies() {
        #expect(IoTError(.deviceOffline).remedy == ErrorCode.deviceOffline.remedy)
        let specific = IoTError(.deviceOffline, "never online", remedy: "switch it on once")
        #expect(specific.remedy == "switch it on once")
        let wider = specific.withMessage("front: never online")
        #expect(wider.message == "front: never online" && wider.remedy == "switch it on once")
    }

    @Test("An error prints its number, its name and the specific message")
    func description() {
        #expect(IoTError(.deviceOffline).description == "8000 deviceOffline: the device is offline")
        #expect(IoTError(.deviceOffline, "no heartbeat").description == "8000 deviceOffline: no heartbeat")
        #expect(IoTError(.deviceOffline).file == "IoTCoreTests/ErrorCatalogueTests.swift")
    }
}
