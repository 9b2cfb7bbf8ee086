/// How many responses the sender of a message expects.
public enum MessageResponses: String, Codable, Hashable, Sendable, CaseIterable {
    /// Only to hear that the device took it.
    case none
    case one
    /// Until the device says that there are no more, or the time is over.
    case many
}
