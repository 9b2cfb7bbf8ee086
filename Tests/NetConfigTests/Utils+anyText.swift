import TestSupport

extension SeededGenerator {
    /// A text of `range` bytes of any characters that a field may hold, in UTF-8.
    mutating func text(of range: ClosedRange<Int>) -> String {
        var text = ""
        let length = Int.random(in: range, using: &self)
        while text.utf8.count < length {
            let scalar = scalar()
            if text.utf8.count + String(scalar).utf8.count > range.upperBound { break }
            text.unicodeScalars.append(scalar)
        }
        while text.utf8.count < range.lowerBound { text += "x" }
        return text
    }

    /// Half of them are of those that some format has a rule for.
    private mutating func scalar() -> Unicode.Scalar {
        while true {
            let special = Array(#"\;,":%{}SPTRHI0f "#.unicodeScalars)
            let value: UInt32 =
                switch Int.random(in: 0..<8, using: &self) {
                case 0...3: special.randomElement(using: &self)?.value ?? 0
                case 4: .random(in: 0x20...0x7E, using: &self)
                case 5: .random(in: 0xA0...0x7FF, using: &self)
                case 6: .random(in: 0x800...0xFFFF, using: &self)
                default: .random(in: 0x10000...0x10FFFF, using: &self)
                }
            if let scalar = Unicode.Scalar(value) { return scalar }
        }
    }
}
