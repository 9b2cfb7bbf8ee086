import IoTCore

public import struct NIOCore.TimeAmount

/// How one MQTT connection is made. Version 3.1.1, clean session.
public struct MQTTConfiguration: Sendable {
    public var endpoint: LinkEndpoint
    public var clientID: String
    public var credentials: MQTTCredentials?
    /// What the broker publishes for us when the connection ends without a DISCONNECT; QoS 1, not retained.
    public var will: MQTTMessage?
    /// 5 s or more; 15 s. A broker silent for twice as long is lost.
    public var keepAlive: TimeAmount = .seconds(15)
    /// Messages to publish that wait for the broker: 4,096; one more is refused with 25024.
    public var waitingMessages = 4096
    /// Bytes of such messages: 32 MiB; what does not fit is refused with 25024.
    public var waitingBytes = 32 << 20
    /// Messages sent and not yet acknowledged: 512; further ones wait.
    public var unacknowledgedMessages = 512
    /// Trusted in place of the file that a TLS endpoint names.
    var certificateAuthority: CertificateAuthority?
    /// ms since 1970; tells whether the validity of certificates can be judged.
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

/// A user name and its password; never printed.
public struct MQTTCredentials: Sendable, CustomStringConvertible {
    public let userName: String
    public let password: String

    public init(userName: String, password: String) {
        self.userName = userName
        self.password = password
    }

    public var description: String { "MQTTCredentials(\(userName))" }
}

/// A topic and what is published there.
public struct MQTTMessage: Sendable, Equatable {
    public var topic: String
    public var payload: [UInt8]

    public init(topic: String, payload: [UInt8]) {
        self.topic = topic
        self.payload = payload
    }
}
