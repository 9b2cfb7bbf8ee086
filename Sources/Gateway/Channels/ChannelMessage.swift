package import IoTCore
package import NIOCore

/// A message or a request over a channel, with validated parts.
package struct ChannelMessage: Sendable {
    package var data: ByteBuffer
    package var responses: MessageResponses
    package var timeout: Duration

    package init(data: ByteBuffer, responses: MessageResponses, timeout: Duration) {
        self.data = data
        self.responses = responses
        self.timeout = timeout
    }
}
