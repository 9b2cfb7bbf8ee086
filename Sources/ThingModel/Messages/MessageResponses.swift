/// How many responses the sender of a message expects.
public enum MessageResponses: String, Sendable, Codable, CaseIterable {
    /// Only to hear that the device took it.
    case none
    case one
    /// Until the device says that there are no more.
    case many
}
