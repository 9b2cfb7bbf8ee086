import IoTCore

extension String {
    /// A stranger's text, fit for a terminal and a comparison: at most `count` characters, none of which controls.
    func shown(_ count: Int) -> String {
        guard isStreamSafe else { return "" }
        return String(
            prefix(count).filter { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } })
    }
}
