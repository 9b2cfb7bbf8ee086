package import IoTCore
package import NIOCore

/// What the program beside a camera sends to the camera's users, with validated parts.
package struct CameraMessage: Sendable {
    package var call: String?
    package var request: UInt32?
    package var data: ByteBuffer?
    package var isLast: Bool
    package var error: IoTError?
    package var timeout: Duration

    package init(
        call: String?, request: UInt32?, data: ByteBuffer?, isLast: Bool, error: IoTError?, timeout: Duration
    ) {
        self.call = call
        self.request = request
        self.data = data
        self.isLast = isLast
        self.error = error
        self.timeout = timeout
    }
}
