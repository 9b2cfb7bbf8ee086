/// An input in which a part is repeated, as an attacker enlarges a small input: more members, more lines, a longer run
/// of one character.
struct GrownInput: Sendable {
    private let before: ArraySlice<UInt8>
    private let part: ArraySlice<UInt8>
    private let after: ArraySlice<UInt8>
    /// Whether the digits of each copy count up, so that no two copies are equal.
    private let isNumbered: Bool

    /// - Parameter choice: Chooses the part; the same number chooses the same part.
    init(_ input: [UInt8], choice: UInt64) {
        var choice = choice
        func next(_ count: Int) -> Int {
            // SplitMix64's step.
            choice &+= 0x9E37_79B9_7F4A_7C15
            var value = choice
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((value ^ (value >> 31)) % UInt64(max(1, count)))
        }
        var start = next(input.count)
        // Short parts are as frequent as long ones.
        var end = min(input.count, start + 1 + next(1 << next(8)))
        // A multi-byte character is not cut, because the copies would not be UTF-8.
        while start > 0, Self.isContinuation(input[start]) { start -= 1 }
        while end < input.count, Self.isContinuation(input[end]) { end += 1 }
        before = input[..<start]
        part = input[start..<end]
        after = input[end...]
        isNumbered = next(2) == 1
    }

    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    /// The input with as many copies as fit into `size` bytes, and at least one.
    func bytes(_ size: Int) -> [UInt8] {
        var bytes = Array(before)
        var number = 0
        repeat {
            bytes += isNumbered ? numbered(number) : Array(part)
            number += 1
        } while !part.isEmpty && bytes.count + part.count + after.count <= size
        return bytes + after
    }

    private func numbered(_ number: Int) -> [UInt8] {
        var rest = number
        var copy = Array(part)
        for place in copy.indices.reversed() where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(copy[place]) {
            copy[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        return copy
    }
}
