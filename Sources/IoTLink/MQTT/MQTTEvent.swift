public import IoTCore

/// What an MQTT connection tells. First `connected`, or `ended` at once; nothing follows `ended`.
public enum MQTTEvent: Sendable {
    /// The broker accepted us (CONNACK 0).
    case connected
    /// The broker granted a subscription, or refused it (SUBACK 0x80).
    case subscribed(filter: String, granted: Bool)
    case message(MQTTMessage)
    case ended(MQTTEnd)
}

/// Why an MQTT connection ended.
public enum MQTTEnd: Sendable {
    /// We asked for it.
    case disconnected
    /// The broker refused user name or password, or does not let them in (CONNACK 4 or 5): 25026.
    case credentialsRefused(IoTError)
    /// It could not be made, or was lost: 21025 with the reason.
    case lost(IoTError)
}
