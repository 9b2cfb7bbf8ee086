package import GatewayAPI
package import IoTCore

/// Sends a notice to its receiver.
package protocol NoticeSender: Sendable {
    /// - Parameters:
    ///   - url: `http` or `https`.
    ///   - allowsPrivate: Whether the receiver may be on a private network. It is never on this machine.
    func send(_ notice: OfflineNotice, to url: ServiceURL, allowsPrivate: Bool) async throws(NoticeFailure)
}

/// Why a notice was not taken.
package struct NoticeFailure: Error {
    package var error: IoTError
    /// True if another attempt would not help.
    package var isFinal: Bool

    package init(_ error: IoTError, isFinal: Bool) {
        self.error = error
        self.isFinal = isFinal
    }
}
