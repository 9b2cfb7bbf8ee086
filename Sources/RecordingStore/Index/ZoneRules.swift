package import IoTCore

/// The offsets of an IANA time zone, from its compiled file (RFC 8536, TZif) in the system's time zone data.
package struct ZoneRules: DayZone, Hashable {
    private struct Change: Hashable {
        /// s since 1970.
        var time: Int64
        var offset: Int64
    }

    private var first: Int64 = 0
    private var changes: [Change] = []
    /// For times after the last change.
    private var later: PosixZone?

    /// - Parameters:
    ///   - name: for example `Europe/Berlin`.
    ///   - directory: the system's time zone data.
    /// - Throws: `valueInvalid` if the system does not know the zone.
    package init(name: String, directory: String = "/usr/share/zoneinfo") throws(IoTError) {
        let isName =
            !name.isEmpty && name.utf8.count <= 64
            && name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
                !part.isEmpty
                    && part.utf8.allSatisfy { byte in
                        switch byte {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                            UInt8(ascii: "+"):
                            true
                        default: false
                        }
                    }
            }
        guard isName,
            let bytes = try PrivateFile.bytes(of: directory + "/" + name, limit: 65_536, secrecy: nil),
            let rules = ZoneRules(bytes: bytes)
        else {
            throw IoTError(
                .valueInvalid, "there is no time zone \(name.prefix(64).debugDescription)",
                remedy: "use a name such as Europe/Berlin; the machine needs the package tzdata")
        }
        self = rules
    }

    /// `nil` if the file is damaged.
    package init?(bytes: [UInt8]) {
        var reader = TZifReader(bytes: bytes)
        guard let oldHeader = reader.header() else { return nil }
        var header = oldHeader
        var timeSize = 4
        if oldHeader.version >= 2 {
            guard reader.skip(oldHeader.size(timeSize: 4)), let newHeader = reader.header() else { return nil }
            header = newHeader
            timeSize = 8
        }
        guard header.typeCount > 0,
            let times = reader.integers(header.timeCount, size: timeSize), let indices = reader.take(header.timeCount)
        else { return nil }
        var offsets: [Int64] = []
        for _ in 0..<header.typeCount {
            guard let offset = reader.integers(1, size: 4)?.first, reader.skip(2), abs(offset) <= 26 * 3_600 else {
                return nil
            }
            offsets.append(offset)
        }
        guard indices.allSatisfy({ Int($0) < offsets.count }) else { return nil }
        first = offsets[0]
        changes = zip(times, indices).map { Change(time: $0, offset: offsets[Int($1)]) }
        guard zip(changes, changes.dropFirst()).allSatisfy({ $0.time < $1.time }) else { return nil }
        if timeSize == 8 {
            guard reader.skip(header.restSize(timeSize: 8)) else { return nil }
            later = PosixZone(text: reader.footer())
        }
    }

    package func offset(at time: Int64) -> Int64 {
        guard let last = changes.last, time < last.time else {
            return later?.offset(at: time) ?? changes.last?.offset ?? first
        }
        var low = 0
        var high = changes.count
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? first : changes[low - 1].offset
    }
}
