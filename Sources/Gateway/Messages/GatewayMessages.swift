package import GatewayAPI
package import IoTCore

/// Messages of the caller to devices and to the hub.
package protocol GatewayMessages: Sendable {
    func send(_ device: String, _ message: DeviceMessage, requestID: String?) async throws -> MessageResponse
    /// Yields each response of the device, and finally `.end` or `.failed`.
    func responses(
        _ device: String, _ message: DeviceMessage, requestID: String?
    ) async throws -> AsyncStream<MessageEvent>
    func askServer(_ request: ServerMessageRequest, requestID: String?) async throws -> MessageData
}

/// A message for a device, with validated parts.
package struct DeviceMessage: Sendable {
    package var data: [UInt8]
    package var responses: MessageResponses
    package var timeout: Duration
    package var wake: Bool?

    package init(data: [UInt8], responses: MessageResponses, timeout: Duration, wake: Bool?) {
        self.data = data
        self.responses = responses
        self.timeout = timeout
        self.wake = wake
    }
}
