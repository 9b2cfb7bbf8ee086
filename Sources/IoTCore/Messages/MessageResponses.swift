/// How many responses the sender of a message expects.
public enum MessageResponses: String, Codable, Hashable, Sendable, CaseIterable {
    /// Only an acknowledgement that the device received the message.
    case none
    case one
    /// Until the device signals the last response, or the time limit passes.
    case many
}
