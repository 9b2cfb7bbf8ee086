import IoTCore

extension String {
    /// Text from a stranger, safe for terminals and comparisons: at most `count` characters, no control characters.
    func shown(_ count: Int) -> String {
        guard isStreamSafe else { return "" }
        return String(prefix(count).filter { !$0.unicodeScalars.contains(where: \.isControl) })
    }
}
