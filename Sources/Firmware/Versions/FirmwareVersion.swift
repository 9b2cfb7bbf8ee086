import IoTCore

/// A version of a firmware, ordered as semantic versions are (semver.org, §11): `0.2.0`, `1.0.0-rc.1`.
public struct FirmwareVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    private static let maximumLength = 32

    /// Major, minor and patch, each at most 999,999,999.
    private let numbers: [UInt32]
    /// The parts after the hyphen; a finished version has none.
    private let preliminary: [Part]

    private enum Part: Hashable {
        case number(UInt32)
        case word(String)
    }

    /// - Returns: `nil` for any other text. Leading zeros are refused, so that a version has one text.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let halves = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = halves[0].split(separator: ".", omittingEmptySubsequences: false).map { Self.number($0) }
        guard numbers.count == 3 else { return nil }
        self.numbers = numbers.compactMap { $0 }
        guard self.numbers.count == 3 else { return nil }
        guard halves.count == 2 else {
            preliminary = []
            return
        }
        let parts = halves[1].split(separator: ".", omittingEmptySubsequences: false).map { Self.part($0) }
        preliminary = parts.compactMap { $0 }
        guard preliminary.count == parts.count else { return nil }
    }

    /// The version with the number that a thing model has for it: a million for the major version, a thousand for the
    /// minor.
    public init(number: UInt32) {
        numbers = [number / 1_000_000, number / 1_000 % 1_000, number % 1_000]
        preliminary = []
    }

    /// The version in a text of a camera's maker: its first two or more numbers with points between them. Further ones
    /// follow a hyphen, so that they count, too: `V5.7.3 build 220112` is 5.7.3, `2.800.0000000.31.R` is 2.800.0-31.
    ///
    /// - Returns: `nil` for a text without one.
    public init?(foundIn text: String) {
        let isPart = { (byte: UInt8) in (0x30...0x39).contains(byte) || byte == 0x2E }
        for word in text.utf8.prefix(256).split(whereSeparator: { !isPart($0) }) {
            let numbers = word.split(separator: 0x2E).map { digits -> String in
                let rest = digits.drop { $0 == 0x30 }
                return rest.isEmpty ? "0" : String(decoding: rest, as: UTF8.self)
            }
            guard numbers.count >= 2 else { continue }
            let main = numbers.prefix(3) + Array(repeating: "0", count: max(0, 3 - numbers.count))
            let further = numbers.dropFirst(3).joined(separator: ".")
            self.init(main.joined(separator: ".") + (further.isEmpty ? "" : "-" + further))
            return
        }
        return nil
    }

    /// Whether the first numbers are these.
    func begins(with prefix: [UInt32]) -> Bool { numbers.starts(with: prefix) }

    static func number(_ text: some StringProtocol) -> UInt32? {
        let digits = text.utf8
        guard (1...9).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            digits.count == 1 || digits.first != 0x30
        else { return nil }
        return UInt32(text)
    }

    private static func part(_ text: some StringProtocol) -> Part? {
        if let number = number(text) { return .number(number) }
        let isWord = !text.isEmpty && text.utf8.contains { !(0x30...0x39).contains($0) }
        let isKnown = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
        }
        return isWord && isKnown ? .word(String(text)) : nil
    }

    public static func < (first: Self, second: Self) -> Bool {
        if first.numbers != second.numbers { return first.numbers.lexicographicallyPrecedes(second.numbers) }
        // A finished version comes after all that preceded it.
        if first.preliminary.isEmpty || second.preliminary.isEmpty {
            return second.preliminary.isEmpty && !first.preliminary.isEmpty
        }
        return first.preliminary.lexicographicallyPrecedes(second.preliminary) { first, second in
            switch (first, second) {
            case (.number(let first), .number(let second)): first < second
            case (.number, .word): true
            case (.word, .number): false
            case (.word(let first), .word(let second)): first.utf8.lexicographicallyPrecedes(second.utf8)
            }
        }
    }

    public var description: String {
        let text = numbers.map(String.init).joined(separator: ".")
        let parts = preliminary.map { part in
            switch part {
            case .number(let number): String(number)
            case .word(let word): word
            }
        }
        return parts.isEmpty ? text : text + "-" + parts.joined(separator: ".")
    }
}
