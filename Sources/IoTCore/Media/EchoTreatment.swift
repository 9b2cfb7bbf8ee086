/// What becomes of received sound while its hearer talks: it holds the echo of what is said.
public enum EchoTreatment: String, Codable, Sendable, Hashable, CaseIterable {
    /// It is quiet.
    case duck
    /// It stays as it is.
    case keep
}
