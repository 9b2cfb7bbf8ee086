package import GatewayAPI

/// The caller's messages to devices and to the hub.
package protocol GatewayMessages: Sendable {
    func send(_ device: String, _ message: DeviceMessage, requestID: String?) async throws -> MessageResponse
    /// Each response of the device as it comes, to `.end` or `.failed`.
    func responses(
        _ device: String, _ message: DeviceMessage, requestID: String?
    ) async throws -> AsyncStream<MessageEvent>
    func askServer(_ request: ServerMessageRequest, requestID: String?) async throws -> MessageData
}

/// A message for a device, whose parts were checked.
package struct DeviceMessage: Sendable {
    /// Base64.
    package var data: String
    package var responses: MessageResponses
    package var timeout: Duration
    package var wake: Bool?

    package init(data: String, responses: MessageResponses, timeout: Duration, wake: Bool?) {
        self.data = data
        self.responses = responses
        self.timeout = timeout
        self.wake = wake
    }
}
