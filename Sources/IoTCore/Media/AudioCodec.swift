/// An audio codec that the product carries.
public enum AudioCodec: String, Sendable, Codable, CaseIterable {
    case aac
    case pcmu
    case pcma
    case opus
}
