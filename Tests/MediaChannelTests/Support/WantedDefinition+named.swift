import IoTCore

/// So that tests can write `[.low]` for a list of wanted definitions.
extension WantedDefinition {
    static let low = WantedDefinition.named(.low)
    static let mid = WantedDefinition.named(.mid)
    static let high = WantedDefinition.named(.high)
    static let audio = WantedDefinition.named(.audio)
}
