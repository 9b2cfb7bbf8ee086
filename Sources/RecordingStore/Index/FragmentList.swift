package import IoTCore

/// The fragments of one segment, in the order of the file. The index stores them as bytes (`docs/recording.md`, "The
/// index"), about six for each fragment.
package struct FragmentList: Sendable, Hashable {
    /// The size of the file's header, which is the place of the first fragment.
    package private(set) var headerSize: Int64
    package private(set) var fragments: [FragmentFacts] = []
    /// The header and all fragments, in bytes.
    package private(set) var byteCount: Int64

    package init(headerSize: Int64) {
        self.headerSize = headerSize
        byteCount = headerSize
    }

    /// The first fragment's start since 1970, in µs.
    package var wallStart: Int64? { fragments.first?.wallStart }

    /// From the first frame to the end of the last one, in µs. The last fragment's end is estimated from the rate of the
    /// camera's clock in this segment.
    package var wallDuration: Int64 {
        guard let first = fragments.first, let last = fragments.last else { return 0 }
        let wall = last.wallStart - first.wallStart
        let media = last.mediaStart - first.mediaStart
        let rate = wall > 0 && media > 0 ? Double(wall) / Double(media) : 1
        return wall + Int64(Double(last.mediaDuration) * min(rate, 4))
    }

    /// Adds the next fragment of the file. Neither clock goes back within a segment, and the fragment before ends where
    /// this one begins.
    package mutating func append(_ fragment: FragmentFacts) {
        var next = fragment
        if let last = fragments.last {
            next.mediaStart = max(next.mediaStart, last.mediaStart)
            next.wallStart = max(next.wallStart, last.wallStart)
            fragments[fragments.count - 1].mediaDuration = next.mediaStart - last.mediaStart
        }
        fragments.append(next)
        byteCount += next.byteCount
    }

    /// The fragment at a time, in µs since 1970: its number and its place in the file. Times before the first fragment
    /// find the first one, and times after the last one find the last.
    package func fragment(at time: Int64) -> (number: Int, offset: Int64)? {
        guard !fragments.isEmpty else { return nil }
        var number = 0
        var offset = headerSize
        while number + 1 < fragments.count, fragments[number + 1].wallStart <= time {
            offset += fragments[number].byteCount
            number += 1
        }
        return (number, offset)
    }

    /// The last fragment at or before `number` where decoding can begin.
    package func keyFragment(atOrBefore number: Int) -> (number: Int, offset: Int64)? {
        var offset = headerSize
        var found: (number: Int, offset: Int64)?
        for (each, fragment) in fragments.prefix(number + 1).enumerated() {
            if fragment.startsWithKeyFrame { found = (each, offset) }
            offset += fragment.byteCount
        }
        return found
    }

    /// The same fragments on a wall clock that is `offset` µs later.
    package func shifted(by offset: Int64) -> FragmentList {
        var list = self
        for number in list.fragments.indices { list.fragments[number].wallStart += offset }
        return list
    }
}

// MARK: Bytes

extension FragmentList {
    private static let version: UInt64 = 1

    /// The stored form, without the wall time of the first fragment: that is a column of its own, so that a corrected
    /// clock changes one number of a segment.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16 + fragments.count * 8)
        Varint.append(Self.version, to: &bytes)
        Varint.append(UInt64(headerSize), to: &bytes)
        guard let first = fragments.first else { return bytes }
        Varint.append(signed: first.mediaStart, to: &bytes)
        var duration: Int64 = 0
        for (number, fragment) in fragments.enumerated() {
            Varint.append(signed: fragment.mediaDuration - duration, to: &bytes)
            duration = fragment.mediaDuration
            if number > 0 {
                let before = fragments[number - 1]
                Varint.append(
                    signed: fragment.wallStart - before.wallStart - before.mediaDuration, to: &bytes)
            }
            Varint.append(UInt64(fragment.byteCount) << 1 | (fragment.startsWithKeyFrame ? 1 : 0), to: &bytes)
        }
        return bytes
    }

    /// - Parameter wallStart: the wall time of the first fragment, in µs since 1970.
    /// - Throws: `playbackListDamaged`.
    package init(bytes: [UInt8], wallStart: Int64) throws(IoTError) {
        guard let list = Self.decode(bytes[...], wallStart: wallStart) else {
            throw IoTError(.playbackListDamaged, "the index's list of a segment's fragments is damaged")
        }
        self = list
    }

    private static func decode(_ bytes: ArraySlice<UInt8>, wallStart: Int64) -> FragmentList? {
        var rest = bytes
        guard Varint.take(from: &rest) == version, let header = size(from: &rest) else { return nil }
        var list = FragmentList(headerSize: header)
        guard !rest.isEmpty else { return list }
        guard var media = Varint.takeSigned(from: &rest) else { return nil }
        var wall = wallStart
        var duration: Int64 = 0
        while !rest.isEmpty {
            guard let change = Varint.takeSigned(from: &rest) else { return nil }
            if let last = list.fragments.last {
                guard let correction = Varint.takeSigned(from: &rest),
                    let start = sum(wall, last.mediaDuration, correction)
                else { return nil }
                wall = start
            }
            guard let length = sum(duration, change), length >= 0,
                let coded = Varint.take(from: &rest), coded >> 1 <= 1 << 40,
                let next = sum(media, length), let total = sum(list.byteCount, Int64(coded >> 1))
            else { return nil }
            list.fragments.append(
                FragmentFacts(
                    mediaStart: media, mediaDuration: length, wallStart: wall, byteCount: Int64(coded >> 1),
                    startsWithKeyFrame: coded & 1 == 1))
            list.byteCount = total
            duration = length
            media = next
        }
        return list
    }

    private static func size(from bytes: inout ArraySlice<UInt8>) -> Int64? {
        Varint.take(from: &bytes).flatMap { $0 <= 1 << 40 ? Int64($0) : nil }
    }

    /// `nil` on an overflow.
    private static func sum(_ values: Int64...) -> Int64? {
        var total: Int64 = 0
        for value in values {
            let (next, overflow) = total.addingReportingOverflow(value)
            guard !overflow else { return nil }
            total = next
        }
        return total
    }
}
