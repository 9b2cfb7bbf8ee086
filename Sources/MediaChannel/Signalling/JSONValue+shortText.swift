import IoTCore

extension JSONValue {
    /// A member's text when it has 64 bytes at most, such as a call's session.
    ///
    /// The bound is checked before anything is compared or looked up: Swift's strings compare canonically, which takes
    /// the square of the length of a run of combining marks.
    func shortText(_ name: String) -> String? {
        guard let text = self[name]?.stringValue, text.utf8.count <= 64 else { return nil }
        return text
    }
}
