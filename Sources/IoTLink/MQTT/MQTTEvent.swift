public import IoTCore

/// An event of an MQTT connection. The first is `connected`, or `ended` when it failed; nothing follows `ended`.
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
    /// Our `disconnect()` ended it.
    case disconnected
    /// The broker refused the user name or the password, or does not authorize them (CONNACK 4 or 5): 25026.
    case credentialsRefused(IoTError)
    /// The connection failed or was lost: 21025 with the reason.
    case lost(IoTError)
}
