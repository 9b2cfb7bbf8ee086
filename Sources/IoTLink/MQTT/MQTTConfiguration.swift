import IoTCore

public import struct NIOCore.TimeAmount

/// The configuration of one MQTT connection: version 3.1.1, clean session.
public struct MQTTConfiguration: Sendable {
    public var endpoint: LinkEndpoint
    public var clientID: String
    public var credentials: MQTTCredentials?
    /// The message that the broker publishes when the connection ends without a DISCONNECT; QoS 1, not retained.
    public var will: MQTTMessage?
    /// At least 5 s; default 15 s. The connection is lost when the broker is silent for twice as long.
    public var keepAlive: TimeAmount = .seconds(15)
    /// The maximum number of messages that wait to be published; default 4,096. Further ones are refused with 25024.
    public var waitingMessages = 4096
    /// The maximum bytes of waiting messages; default 32 MiB. Further messages are refused with 25024.
    public var waitingBytes = 32 << 20
    /// The maximum number of messages that are sent and not yet acknowledged; default 512. Further ones wait.
    public var unacknowledgedMessages = 512
    /// The trusted authority; replaces the file that a TLS endpoint names.
    var certificateAuthority: CertificateAuthority?
    /// Returns the current time, ms since 1970. If it is implausible, the validity times of certificates are not
    /// checked.
    var wallClock: @Sendable () -> Int64 = WallClock.milliseconds

    public init(
        endpoint: LinkEndpoint, clientID: String, credentials: MQTTCredentials? = nil, will: MQTTMessage? = nil
    ) {
        self.endpoint = endpoint
        self.clientID = clientID
        self.credentials = credentials
        self.will = will
    }
}

/// A user name and its password. The password is never printed.
public struct MQTTCredentials: Sendable, CustomStringConvertible {
    public let userName: String
    public let password: String

    public init(userName: String, password: String) {
        self.userName = userName
        self.password = password
    }

    public var description: String { "MQTTCredentials(\(userName))" }
}

/// A topic and a payload.
public struct MQTTMessage: Sendable, Equatable {
    public var topic: String
    public var payload: [UInt8]

    public init(topic: String, payload: [UInt8]) {
        self.topic = topic
        self.payload = payload
    }
}
