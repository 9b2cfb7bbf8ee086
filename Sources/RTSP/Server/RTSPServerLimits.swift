package import IoTCore
package import NIOCore

/// The limits of one connection of the server.
package struct RTSPServerLimits: Sendable, Hashable {
    /// The longest time from the start of a connection to its login.
    package var loginTime: TimeAmount = .seconds(30)
    /// The longest time from the first byte of a message to its last.
    package var messageTime: TimeAmount = .seconds(10)
    /// The longest time between two requests of a connection without a session.
    package var idleTime: TimeAmount = .seconds(60)
    /// The time-out of a session, which is announced to the client.
    package var sessionTime: TimeAmount = .seconds(60)
    /// The largest number of requests before the login.
    package var requestsBeforeLogin = 20
    /// The number of wrong logins that ends a connection.
    package var wrongLogins = 4
    /// The pause before a second login is checked. It doubles with each wrong login.
    package var loginPause: TimeAmount = .milliseconds(250)
    /// The rate of requests.
    package var requests = RateLimit.Bound(burst: 60, each: 10)
    /// The rate of the client's interleaved frames. Excess frames are ignored.
    package var frames = RateLimit.Bound(burst: 100, each: 50)
    /// The largest number of bytes received while a request is being handled. A client that sends more is disconnected.
    package var heldBytes = 65_536

    package init() {}
}
